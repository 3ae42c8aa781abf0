import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { Enforcement } from '../../../src/enforcement/enforcement.js'
import { ExceptionBook } from '../../../src/enforcement/exceptions/exception-book.js'
import type { LevelEntry } from '../../../src/enforcement/levels.js'
import { ask, objectOf, postJson } from '../../support/http-client.js'
import { strictWalk, tolerantWalk } from '../../support/orchestrator-client.js'
import { startPolicyServer } from '../../support/policy-server.js'

const POLICIES = {
  'wait.rego': `package static.wait
import rego.v1
deny contains sprintf("%v waits too long", [s.name]) if { some s in input.new.stages; s.waitTime > 60 }
warn contains "no owner" if not input.new.owner
`,
  'new.rego': `package static.new
import rego.v1
deny contains "no description" if not input.new.description
deny contains "bad" if to_number(input.new.number) > 5
`,
  'broken.rego': `package static.broken
import rego.v1
deny contains "x" if to_number(input.new.brokenNumber) > 5
`,
  'window.rego': `package runtime.window
import rego.v1
deny contains "closed" if input.closed
warn contains {"msg": "closes soon"} if input.soon
`,
  'ready.rego': `package runtime.ready
import rego.v1
allow if input.ready
`,
  'advice.rego': `package runtime.advice
import rego.v1
warn contains "only advice"
`,
}
const LEVELS: readonly LevelEntry[] = [
  { package: 'static.new', level: 'warn' },
  { package: 'static.broken', level: 'off', applications: ['shop'] },
  { package: 'static.broken', level: 'warn', applications: ['pay'] },
  { package: 'runtime.window', level: 'warn', applications: ['pay'] },
  { package: 'runtime.window', level: 'off', applications: ['old'] },
  { package: 'runtime.ready', level: 'warn' },
]

let service: Awaited<ReturnType<typeof startPolicyServer>>
const counted: string[] = []
const book = new ExceptionBook()

beforeAll(async () => {
  service = await startPolicyServer(POLICIES, {
    enforcement: new Enforcement({ levels: LEVELS, exceptions: book }),
    warned: (found) => counted.push(...found.map(({ packageName, kind }) => `${packageName} ${kind}`)),
  })
})
afterAll(() => service.server.stop(0))

const save = (pipeline: object) =>
  postJson(service.server.url, '/v1/staticPolicy/eval', { input: { new: pipeline } })
const run = (policy: string, members: object) =>
  ask(service.server.url, {
    path: `/v1/data/${policy}`,
    body: JSON.stringify({
      ...{ payloadConstraint: [], startTime: 1, application: 'shop', name: 'prod', stage: 'Policy' },
      ...{ executionId: '01J', trigger: { user: 'ana' }, ...members },
    }),
  })
const loggedPackages = (): unknown =>
  JSON.parse(Buffer.from(service.decisions.at(-1)?.packages ?? []).toString() || 'null')

const SHOP = { application: 'shop', owner: 'ana', description: 'x', stages: [] }
const NO_DESCRIPTION = { package: 'static.new', message: 'no description', kind: 'level', level: 'warn' }
const NO_OWNER = { package: 'static.wait', message: 'no owner', kind: 'rule' }

describe('warnings of a saved pipeline', () => {
  test('are absent if there are none', async () => {
    const answer = await save(SHOP)
    expect(answer.status).toBe(200)
    expect(objectOf(answer)).not.toHaveProperty('warnings')
    expect(loggedPackages()).toBeNull()
  })

  test('are in an allow, the decision log and the metric', async () => {
    counted.length = 0
    const answer = await save({ ...SHOP, description: undefined, owner: undefined })
    expect(answer.status).toBe(200)
    expect(objectOf(answer)['warnings']).toEqual([NO_DESCRIPTION, NO_OWNER])
    expect(service.decisions.at(-1)).toMatchObject({ outcome: 'allow', result: '[]' })
    expect(loggedPackages()).toEqual([
      {
        package: 'static.new',
        deny: [],
        warnings: [{ message: 'no description', kind: 'level', level: 'warn' }],
      },
      { package: 'static.wait', deny: [], warnings: [{ message: 'no owner', kind: 'rule' }] },
    ])
    expect(counted).toEqual(['static.new level', 'static.wait rule'])
  })

  test('are in a denial, next to its reasons', async () => {
    const stages = [{ name: 'Wait', waitTime: 90 }]
    const answer = await save({ ...SHOP, stages, owner: undefined })
    expect(answer.status).toBe(401)
    expect(objectOf(answer)).toMatchObject({ deny: ['Wait waits too long'], warnings: [NO_OWNER] })
    expect(loggedPackages()).toEqual([
      {
        package: 'static.wait',
        deny: ['Wait waits too long'],
        warnings: [{ message: 'no owner', kind: 'rule' }],
      },
    ])
  })

  test.each(['allow', 'deny'])('never confuse a client that walks every object: %s', async (outcome) => {
    const stages = outcome === 'deny' ? [{ name: 'Wait', waitTime: 90 }] : []
    const { text } = await save({ ...SHOP, stages, description: undefined, owner: undefined })
    const reasons = outcome === 'deny' ? ['Wait waits too long'] : []
    expect(text).toContain('"warnings"')
    expect(strictWalk(text, 'deny')).toEqual(reasons)
    expect(tolerantWalk(text, 'deny')).toEqual(reasons)
    expect(tolerantWalk(text, 'allow')).toEqual([])
  })
})

describe('a package that fails', () => {
  test('is a warning at the level warn, and the others still count', async () => {
    const answer = await save({
      ...SHOP,
      application: 'pay',
      number: 'x',
      brokenNumber: 'x',
      owner: undefined,
    })
    expect(answer.status).toBe(200)
    expect(objectOf(answer)['warnings']).toEqual([
      expect.objectContaining({ package: 'static.broken', kind: 'error' }),
      expect.objectContaining({ package: 'static.new', kind: 'error' }),
      NO_OWNER,
    ])
  })

  test('is not evaluated at the level off', async () => {
    const answer = await save({ ...SHOP, brokenNumber: 'x' })
    expect(answer.status).toBe(200)
    expect(objectOf(answer)).not.toHaveProperty('warnings')
  })

  test('is an error if it is enforced', async () => {
    expect((await save({ ...SHOP, application: 'other', brokenNumber: 'x' })).status).toBe(500)
  })
})

describe('warnings of a running pipeline', () => {
  test.each([
    [
      'a rule warns',
      { soon: true },
      200,
      [{ package: 'runtime.window', message: 'closes soon', kind: 'rule' }],
    ],
    ['a rule denies', { closed: true }, 401, undefined],
    [
      'a package warns for its application',
      { closed: true, application: 'pay' },
      200,
      [{ package: 'runtime.window', message: 'closed', kind: 'level', level: 'warn' }],
    ],
    [
      'a part that users write names another application',
      { closed: true, application: 'shop', app: { name: 'pay' } },
      401,
      undefined,
    ],
  ])('%s', async (_, members, status, warnings) => {
    const answer = await run('runtime/window', members)
    expect(answer.status).toBe(status)
    expect(objectOf(answer)['warnings']).toEqual(warnings)
    expect(tolerantWalk(answer.text, 'allow')).toEqual([])
  })

  test('are those of the package of a rule that is queried by its own path', async () => {
    const answer = await run('runtime/window/deny', { closed: true, application: 'pay' })
    expect(answer.status).toBe(200)
    expect(objectOf(answer)['warnings']).toEqual([
      { package: 'runtime.window', message: 'closed', kind: 'level', level: 'warn' },
    ])
    expect((await run('runtime/window/deny', { closed: true })).status).toBe(401)
  })

  test('are those of an undefined rule allow at the level warn', async () => {
    const answer = await run('runtime/ready/allow', {})
    expect(answer.status).toBe(200)
    expect(objectOf(answer)['warnings']).toEqual([
      expect.objectContaining({ package: 'runtime.ready', kind: 'level' }),
    ])
  })

  test.each(['denny', 'deny/closed', 'deny/closed/more', 'no/such/rule'])(
    'never replace the error of a path that names no rule: %s',
    async (path) => {
      for (const application of ['pay', 'old', 'shop']) {
        const answer = await run(`runtime/window/${path}`, { closed: true, application })
        expect([application, answer.status]).toEqual([application, 500])
      }
    },
  )

  test('are enough for a package that only warns, but a path to nothing is still an error', async () => {
    const answer = await run('runtime/advice', {})
    expect(answer.status).toBe(200)
    expect(objectOf(answer)['warnings']).toEqual([
      { package: 'runtime.advice', message: 'only advice', kind: 'rule' },
    ])
    expect((await run('runtime/nothing', {})).status).toBe(500)
  })
})

describe('an exception', () => {
  const exception = {
    ...{ id: 7, package: 'static.wait', application: 'shop', reason: 'migration', owner: 'ana' },
    ...{ createdMs: 0, untilMs: Date.parse('2999-01-01T00:00:00Z'), needsApproval: false },
  }
  const waiting = { ...SHOP, name: 'prod', stages: [{ name: 'Wait', waitTime: 90 }] }

  afterAll(() => book.replace([]))

  test('makes denials of its package warnings that name it', async () => {
    book.replace([exception])
    const answer = await save(waiting)
    expect(answer.status).toBe(200)
    const used = { id: 7, owner: 'ana', until: '2999-01-01T00:00:00.000Z' }
    expect(objectOf(answer)['warnings']).toEqual([
      { package: 'static.wait', message: 'Wait waits too long', kind: 'exception', exception: used },
    ])
    expect(service.decisions.at(-1)?.outcome).toBe('allow')
    expect(loggedPackages()).toEqual([
      {
        package: 'static.wait',
        deny: [],
        warnings: [{ message: 'Wait waits too long', kind: 'exception', exception: used }],
      },
    ])
    expect(strictWalk(answer.text, 'deny')).toEqual([])
    expect(tolerantWalk(answer.text, 'allow')).toEqual([])
  })

  test.each([
    ['after its end', { untilMs: 1 }],
    ['without the approval that it needs', { needsApproval: true }],
    ['for another application', { application: 'pay' }],
    ['for another pipeline', { pipeline: 'test' }],
    ['for another package', { package: 'static.waits' }],
  ])('does nothing %s', async (_, changed) => {
    book.replace([{ ...exception, ...changed }])
    expect((await save(waiting)).status).toBe(401)
  })

  test.each([
    ['for its pipeline', { pipeline: 'Prod' }],
    ['for all applications', { application: undefined }],
    ['once it is approved', { needsApproval: true, approver: 'bo', approvedMs: 1 }],
  ])('applies %s', async (_, changed) => {
    book.replace([{ ...exception, ...changed }])
    expect((await save(waiting)).status).toBe(200)
  })

  test('excuses no error', async () => {
    book.replace([{ ...exception, package: 'static.broken', application: 'other' }])
    expect((await save({ ...waiting, application: 'other', stages: [], brokenNumber: 'x' })).status).toBe(500)
  })

  test('applies to a rule that is queried by its own path', async () => {
    book.replace([{ ...exception, package: 'runtime.window' }])
    expect((await run('runtime/window/deny', { closed: true })).status).toBe(200)
    expect((await run('runtime/window', { closed: true })).status).toBe(200)
  })

  test('is found quickly among ten thousand', async () => {
    const others = Array.from({ length: 10_000 }, (_, id) => ({ ...exception, id, application: `app-${id}` }))
    book.replace([...others, exception])
    expect((await save(waiting)).status).toBe(200)
    expect((await save({ ...waiting, application: 'app-10000' })).status).toBe(401)
  })
})
