import { describe, expect, it } from 'vitest'

import { loadPolicies } from '../../support/load-policies.js'

const module = (name: string, annotation: readonly string[], rest = ''): string =>
  [
    '# METADATA',
    ...annotation.map((line) => `# ${line}`),
    `package ${name}`,
    'import rego.v1',
    'deny contains "no" if input.no',
    rest,
  ].join('\n')

describe('levels in annotations', () => {
  it('are a level, or one with applications, an end and a reason', async () => {
    const snapshot = await loadPolicies({
      'a.rego': module('static.a', ['title: A', 'custom:', '  level: warn']),
      'b.rego': module('static.b', [
        'custom:',
        '  level: {level: off, applications: [shop], until: 2027-01-31, reason: later}',
      ]),
      'c.rego': module('static.c', ['custom:', '  owner: team'], 'prod.deny contains "x" if input.x'),
    })
    expect([...snapshot.declaredLevels]).toEqual([
      ['static/a', { level: 'warn', untilMs: undefined }],
      [
        'static/b',
        {
          level: 'off',
          applications: ['shop'],
          reason: 'later',
          untilMs: Date.parse('2027-01-31T00:00:00Z'),
        },
      ],
    ])
    expect(snapshot.warnings).toEqual([])
  })

  it('include documents of the package, and packages below with the scope subpackages', async () => {
    const snapshot = await loadPolicies({
      'a.rego': module('static.a', ['custom:', '  level: warn'], 'prod.deny contains "x" if input.x'),
      'below.rego': module('static.a.below', ['title: below']),
      'd.rego': module('static.d', ['scope: subpackages', 'custom:', '  level: off']),
      'e.rego': module('static.d.e', ['title: e']),
    })
    expect([...snapshot.declaredLevels].map(([key, { level }]) => `${key} ${level}`)).toEqual([
      'static/a warn',
      'static/a/prod warn',
      'static/d off',
      'static/d/e off',
    ])
  })

  it.each([
    [
      'an unknown level',
      ['custom:', '  level: wran'],
      /custom\.level of package static\.a cannot be read, .*must be enforce, warn or off, not "wran", did you mean warn\?/,
    ],
    ['a bad date', ['custom:', '  level: {level: warn, until: 2027-13-01}'], /date/],
    ['a time without a date', ['custom:', '  level: {level: warn, until: "10:00"}'], /date/],
    ['an unknown member', ['custom:', '  level: {level: warn, untill: 2027-01-01}'], /untill/],
  ])('that cannot be read enforce the package and are reported: %s', async (_, annotation, message) => {
    const { declaredLevels, warnings } = await loadPolicies({ 'a.rego': module('static.a', annotation) })
    expect([...declaredLevels]).toEqual([['static/a', { level: 'enforce' }]])
    expect(warnings.map(({ code, location }) => `${code} ${location?.row}`)).toEqual(['bad_level 4'])
    expect(warnings[0]?.message).toMatch(message)
  })
})
