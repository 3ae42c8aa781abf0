import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ask, objectOf, postJson } from '../support/http-client.js'
import { failToServe, startTidegate } from '../support/tidegate-process.js'
import { makeWorkspace } from '../support/workspace.js'
import type { TidegateProcess } from '../support/tidegate-process.js'
import type { Workspace } from '../support/workspace.js'

const POLICIES = {
  'policies/app.rego':
    'package app\n\nimport rego.v1\n\necho := input\n\ntwice := 1 if input.a\n\ntwice := 2 if input.b\n',
  'policies/static/saves.rego':
    'package static.saves\n\nimport rego.v1\n\ndeny contains "no" if input["new"].bad\n',
  'policies/runtime.rego':
    'package runtime\n\nimport rego.v1\n\ndeny contains "closed" if input.stage == "closed"\n',
}
const flat = {
  payloadConstraint: [],
  startTime: 1,
  application: 'shop',
  name: 'p',
  stage: 'open',
  executionId: 'e',
  user: 'ana',
}

type Decision = Readonly<Record<string, unknown>>
interface Page {
  readonly decisions: readonly Decision[]
  readonly nextCursor?: string
}

async function page(url: string, query: string): Promise<Page> {
  const answer = await ask(url, { path: `/decisions?${query}` })
  expect(answer.status).toBe(200)
  return JSON.parse(answer.text) as Page
}

async function everyPage(url: string, query: string): Promise<Decision[]> {
  const all: Decision[] = []
  for (let cursor = ''; ;) {
    const { decisions, nextCursor } = await page(url, `${query}${cursor}`)
    all.push(...decisions)
    if (nextCursor === undefined) return all
    cursor = `&cursor=${nextCursor}`
  }
}

function workspaceWithPolicies(): Workspace {
  const workspace = makeWorkspace()
  workspace.write(POLICIES)
  return workspace
}

describe('the decisions that were made', () => {
  const workspace = workspaceWithPolicies()
  let tidegate: TidegateProcess

  beforeAll(async () => {
    tidegate = await startTidegate({
      workspace,
      config: {
        decisions: { mask: ['/secret', '/stages/*/token'], maxInputBytes: 512, maxResultBytes: 256 },
      },
    })
  })

  afterAll(async () => {
    await tidegate.end('SIGTERM')
    workspace.remove()
  })

  const decide = async (path: string, body: unknown, headers = {}): Promise<string> => {
    const answer = objectOf(await postJson(tidegate.url, path, body, headers))
    return String(answer['decision_id'] ?? answer['decisionId'])
  }
  const find = async (id: string): Promise<Decision> =>
    objectOf(await ask(tidegate.url, { path: `/decisions/${id}` }))

  test('each is there immediately with its id, input and result', async () => {
    const headers = { 'x-spinnaker-user': 'ana', 'x-request-id': 'request-1' }
    const input = { application: 'shop', x: [1.5] }
    const data = await decide('/v1/data/app/echo', { input }, headers)
    expect(await find(data)).toMatchObject({
      decisionId: data,
      kind: 'data',
      path: 'app/echo',
      outcome: 'defined',
      application: 'shop',
      caller: 'claimed:ana',
      requestId: 'request-1',
      input,
      result: input,
      inputTruncated: false,
      revision: expect.stringMatching(/^sha256:/) as string,
    })
    const allowed = await decide('/v1/staticPolicy/eval', { input: { new: { application: 'shop' } } })
    expect(await find(allowed)).toMatchObject({ kind: 'static', outcome: 'allow', application: 'shop' })
    const refused = await decide('/v1/staticPolicy/eval', { input: { new: { bad: true } } })
    expect(await find(refused)).toMatchObject({ kind: 'static', outcome: 'deny', result: ['no'] })
    const runtime = await decide('/v1/data/runtime', { ...flat, stage: 'closed' })
    expect(await find(runtime)).toMatchObject({ kind: 'runtime', path: 'runtime', outcome: 'deny' })
    const nothing = await decide('/v1/data/nothing', { input: 1 })
    expect(await find(nothing)).toMatchObject({ outcome: 'undefined' })
  })

  test('numbers keep all their digits, in the input and in the result', async () => {
    const exact = '{"big":123456789012345678901234567890,"small":0.1000000000000000055511151231257827}'
    const body = `{"input":{"a":0,"exact":${exact}}}`
    const answer = await ask(tidegate.url, { path: '/v1/data/app/echo/exact', body })
    const id = String(objectOf(answer)['decision_id'])
    const shown = await ask(tidegate.url, { path: `/decisions/${id}` })
    expect(shown.text).toContain(`"input":{"a":0,"exact":${exact}}`)
    expect(shown.text).toContain(`"result":${exact}`)
    expect(shown.headers['content-type']).toBe('application/json; charset=utf-8')
  })

  test('one that failed is there with its error, though the answer has no id', async () => {
    await postJson(
      tidegate.url,
      '/v1/data/app/twice',
      { input: { a: 1, b: 1 } },
      { 'x-request-id': 'failing' },
    )
    const { decisions } = await page(tidegate.url, 'outcome=error')
    expect(decisions[0]).toMatchObject({
      requestId: 'failing',
      path: 'app/twice',
      error: expect.stringContaining('eval_conflict_error') as string,
    })
  })

  test('masked values are never kept, nor is more of an input or a result than allowed', async () => {
    const input = { secret: 'geheim', stages: [{ token: 'geheim', name: 'a' }], rest: 'y' }
    const kept = await find(await decide('/v1/data/app/nothing', { input }))
    expect(JSON.stringify(kept)).not.toContain('geheim')
    expect(kept['input']).toMatchObject({ stages: [{ name: 'a' }], rest: 'y' })
    const long = await find(await decide('/v1/data/app/echo', { input: { text: 'é'.repeat(5000) } }))
    expect(long).toMatchObject({ inputTruncated: true, inputBytes: 10_011 })
    expect(Buffer.byteLength(String(long['inputPrefix']))).toBeLessThanOrEqual(512)
    expect(Buffer.byteLength(String(long['resultPrefix']))).toBeLessThanOrEqual(256)
  })

  test('a page shows inputs only on request', async () => {
    const decisionId = await decide('/v1/data/app/echo', { input: { application: 'listed', text: 'long' } })
    const [plain] = (await page(tidegate.url, 'application=listed')).decisions
    expect(plain).toMatchObject({ decisionId, outcome: 'defined', result: { text: 'long' }, inputBytes: 38 })
    expect(plain).not.toHaveProperty('input')
    const [whole] = (await page(tidegate.url, 'application=listed&inputs=true')).decisions
    expect(whole).toEqual(await find(decisionId))
  })

  test('they are paged by path, outcome, application and time, none twice and none left out', async () => {
    const from = Date.now()
    const ids = await Promise.all(
      Array.from({ length: 60 }, (_, n) =>
        decide('/v1/data/app/echo', { input: { application: n % 2 === 0 ? 'paged' : 'other', n } }),
      ),
    )
    const filtered = await everyPage(tidegate.url, `application=paged&from=${from}&limit=7`)
    expect(filtered.map(({ decisionId }) => decisionId).sort()).toEqual(
      ids.filter((_, n) => n % 2 === 0).sort(),
    )
    const byPath = await everyPage(
      tidegate.url,
      `path=app/echo&from=${new Date(from).toISOString()}&limit=20`,
    )
    expect(byPath).toHaveLength(60)
    expect(await everyPage(tidegate.url, `path=app/echo&outcome=undefined&from=${from}`)).toEqual([])
    expect(await everyPage(tidegate.url, `to=${from - 3_600_000}`)).toEqual([])
    const times = byPath.map(({ time }) => String(time))
    expect(times).toEqual(times.toSorted().reverse())
  })

  test.each([
    ['limit=0', /limit/],
    ['limit=1000', /limit/],
    ['limit=x', /limit/],
    ['outcome=maybe', /outcome/],
    ['from=yesterday', /from/],
    ['cursor=nonsense', /cursor/],
    ['colour=red', /colour/],
    ['limit=0&outcome=maybe', /outcome.*limit/],
  ])('a query that makes no sense is refused with its reason: %s', async (query, message) => {
    const answer = await ask(tidegate.url, { path: `/decisions?${query}` })
    expect(answer.status).toBe(400)
    expect(objectOf(answer)['message']).toMatch(message)
  })

  test('an id that is not known is a 404', async () => {
    for (const id of ['nothing', '..%2f..', '%00', "'%20or%201=1"]) {
      const answer = await ask(tidegate.url, { path: `/decisions/${id}` })
      expect([answer.status, objectOf(answer)['code']]).toEqual([404, 'resource_not_found'])
    }
  })
})

describe('a log that is too small', () => {
  test('delays and fails no decision, and counts dropped ones', async () => {
    const workspace = workspaceWithPolicies()
    const decisions = { bufferRows: 10, flushIntervalMs: 60_000 }
    const tidegate = await startTidegate({ workspace, config: { decisions } })
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => postJson(tidegate.url, '/v1/data/app/echo', { input: 1 })),
    )
    expect(answers.every(({ status }) => status === 200)).toBe(true)
    const metrics = await ask(tidegate.url, { path: '/metrics' })
    expect(metrics.text).toMatch(/^tidegate_decision_log_dropped_total\{reason="buffer_full"\} 40$/m)
    expect(await everyPage(tidegate.url, 'limit=500')).toHaveLength(10)
    await tidegate.end('SIGTERM')
    workspace.remove()
  })

  test('is not there at all when switched off: no ids, no pages', async () => {
    const workspace = workspaceWithPolicies()
    const tidegate = await startTidegate({ workspace, config: { decisions: { enabled: false } } })
    expect((await postJson(tidegate.url, '/v1/data/app/echo', { input: 1 })).text).toBe('{"result":1}\n')
    const answer = await ask(tidegate.url, { path: '/decisions' })
    expect([answer.status, objectOf(answer)['message']]).toEqual([
      404,
      expect.stringContaining('decisions.enabled'),
    ])
    await tidegate.end('SIGTERM')
    workspace.remove()
  })
})

describe('a restart', () => {
  test('after SIGTERM keeps every decision, after kill -9 all that were read before', async () => {
    const workspace = workspaceWithPolicies()
    const first = await startTidegate({ workspace, config: { decisions: { flushIntervalMs: 60_000 } } })
    for (let n = 0; n < 20; n++) await postJson(first.url, '/v1/data/app/echo', { input: n })
    expect(await first.end('SIGTERM')).toBe(0)

    const second = await startTidegate({ workspace })
    expect(await everyPage(second.url, 'limit=7')).toHaveLength(20)
    for (let n = 0; n < 20; n++) await postJson(second.url, '/v1/data/app/echo', { input: n })
    expect(await everyPage(second.url, 'limit=500')).toHaveLength(40)
    await second.end('SIGKILL')

    const third = await startTidegate({ workspace })
    expect(await everyPage(third.url, 'limit=500')).toHaveLength(40)
    await third.end('SIGTERM')
    workspace.remove()
  })

  test('with a file as data directory stops with an error', async () => {
    const workspace = workspaceWithPolicies()
    workspace.write({ blocked: 'a file' })
    const { code, output } = await failToServe({
      workspace,
      args: ['--data-dir', `${workspace.path}/blocked`],
    })
    expect(code).toBe(2)
    expect(output).toMatch(/decisions\.db|blocked/)
    workspace.remove()
  })
})
