import { describe, expect, it } from 'vitest'

import { Levels, levelFor } from '../../src/enforcement/levels.js'
import { Subject } from '../../src/enforcement/about/subject.js'
import type { Snapshot, StatedLevel } from '../../src/rego/index.js'

const NOW_MS = Date.parse('2027-06-01T12:00:00Z')
const about = (input: unknown): Subject => new Subject(Buffer.from(JSON.stringify(input)))
const shop = about({ new: { application: 'Shop ', name: 'prod' } })

describe('the level of a package', () => {
  it.each<[string, readonly StatedLevel[], string]>([
    ['is enforce if nothing is stated', [], 'enforce'],
    ['is the first that applies', [{ level: 'warn' }, { level: 'off' }], 'warn'],
    [
      'applies to its applications only',
      [{ level: 'off', applications: ['other'] }, { level: 'warn' }],
      'warn',
    ],
    ['ignores the case of applications', [{ level: 'off', applications: ['shop'] }], 'off'],
    [
      'enforces from its end on, whatever is stated after it',
      [{ level: 'warn', untilMs: NOW_MS }, { level: 'off' }],
      'enforce',
    ],
    ['applies until its end', [{ level: 'warn', untilMs: NOW_MS + 1 }], 'warn'],
  ])('%s', (_, stated, level) => {
    expect(levelFor(stated, shop, NOW_MS)).toBe(level)
  })

  it.each([
    ['several applications', { application: 'pay', new: { application: 'shop' } }],
    ['no application', { new: { name: 'prod' } }],
    ['an application that is no text', { new: { application: ['shop'] } }],
    ['no object', ['shop']],
    [
      'an application in another place',
      { other: { application: 'shop' }, new: { stages: [{ application: 'shop' }] } },
    ],
  ])('of one application does not apply to an input with %s', (_, input) => {
    expect(levelFor([{ level: 'off', applications: ['shop'] }], about(input), NOW_MS)).toBe('enforce')
  })

  it('enforces for an application that the input names among others', () => {
    const stated: StatedLevel[] = [{ level: 'enforce', applications: ['pay'] }, { level: 'warn' }]
    expect(levelFor(stated, about({ application: 'shop', pipeline: { application: 'pay' } }), NOW_MS)).toBe(
      'enforce',
    )
    expect(levelFor(stated, shop, NOW_MS)).toBe('warn')
  })

  it.each([
    ['a saved pipeline', { new: { application: 'shop' } }],
    ['a saved pipeline of the RBAC task', { pipeline: { application: 'shop', user: {} } }],
    ['an application', { app: { name: 'shop' } }],
    ['a flat body', { application: 'shop', name: 'prod', pipeline: { stages: [] } }],
    ['the input of a gate', { application: 'shop', gate: { application: 'shop', pipeline: 'prod' } }],
    ['the last of repeated members', '{"new":{"application":"other","application":"shop"}}'],
  ])('is found for %s', (_, input) => {
    const subject = typeof input === 'string' ? new Subject(Buffer.from(input)) : about(input)
    expect(levelFor([{ level: 'off', applications: ['shop'] }], subject, NOW_MS)).toBe('off')
  })
})

describe('the pipeline of an input', () => {
  it.each([
    [{ new: { application: 'shop', name: 'Prod', id: '7c1e' } }, 'prod', true],
    [{ new: { application: 'shop', name: 'Prod', id: '7c1e' } }, '7c1e', true],
    [{ application: 'shop', name: 'prod' }, 'prod', true],
    [{ application: 'shop', gate: { application: 'shop', pipeline: 'prod' } }, 'prod', true],
    [{ application: 'shop', name: 'test', new: { application: 'shop', name: 'prod' } }, 'prod', false],
    [{ application: 'shop' }, 'prod', false],
  ])('%j is %s: %s', (input, pipeline, isAbout) => {
    expect(about(input).isOnlyAboutPipeline(pipeline)).toBe(isAbout)
  })
})

describe('levels that do nothing', () => {
  const snapshot = {
    packages: ['static/wait', 'static/wait/prod'],
    declaredLevels: new Map([['static/wait', { level: 'warn', untilMs: NOW_MS - 1 }]]),
  } as unknown as Snapshot

  it('are reported: of packages that are not loaded, and after their end', () => {
    const levels = new Levels([
      { package: 'static.**', level: 'warn', until: '2027-06-02' },
      { package: 'static.wiat', level: 'off' },
      { package: 'static.wait', level: 'warn', until: '2027-06-01' },
    ])
    expect(levels.problems(snapshot, NOW_MS).map(({ code, message }) => `${code}: ${message}`)).toEqual([
      'unknown_package: policies.levels: no loaded package matches static.wiat, so its level off does nothing',
      'ended_level: policies.levels: static.wait: warn ended at 2027-06-01T00:00:00.000Z, so the package is enforced',
      'ended_level: custom.level of package static.wait: warn ended at 2027-06-01T11:59:59.999Z, so the package is enforced',
    ])
  })
})
