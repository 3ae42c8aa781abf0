import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'

import { newerOpa } from '../support/compilers.js'
import { startEventReceiver } from '../support/event-receiver.js'
import type { SentEvent } from '../support/event-receiver.js'
import { ask, postJson } from '../support/http-client.js'
import { startOpa } from '../support/opa-server.js'
import type { ServeSettings, TidegateProcess } from '../support/tidegate-process.js'
import { useEventReceiver } from '../support/use-event-receiver.js'
import { waitUntil } from '../support/wait-until.js'
import { makeWorkspace } from '../support/workspace.js'

const APP =
  'package app\n\nimport rego.v1\n\necho := input\n\nrandom := {"number": rand.intn(input.seed, 100)}\n'
/** The input names the masks. */
const LOG = `package system.log

import rego.v1

mask contains rule if some rule in input.input.masks

mask contains "/input/password"

mask contains {"op": "upsert", "path": "/result/token", "value": data.mark} if input.path == "app/echo"

mask contains "/input/divided" if 1 / input.input.zero > 1

mask contains "/input/endless" if {
	input.input.endless
	count([1 | some a in numbers.range(1, 100000); some b in numbers.range(1, 100000); a + b == -1]) == 0
}

drop if input.input.drop
`
const workspace = makeWorkspace({
  'policies/app.rego': APP,
  'policies/log.rego': LOG,
  'policies/data.json': '{"mark": "[hidden]"}',
  'renamed/app.rego': APP,
  'renamed/log.rego':
    'package audit\n\nimport rego.v1\n\nhide contains "/input/card"\n\nskip if input.input.drop\n',
  'changing/app.rego': APP,
})
afterAll(workspace.remove)

const { receiver, start, untilEvents } = useEventReceiver()

async function serve(
  name: string,
  { decisions = {}, ...settings }: { readonly decisions?: object } & Partial<ServeSettings> = {},
): Promise<TidegateProcess> {
  const sink = { name: 'central', type: 'opa', url: receiver().url, minDelaySeconds: 1 }
  const policies = { limits: { maxDurationMs: 200 } }
  const config = { policies, decisions: { redact: false, sinks: [sink], ...decisions }, ...settings.config }
  return await start({ directories: ['policies'], ...settings, workspace, dataDir: name, config })
}

const decide = (url: string, input: unknown, path = 'echo'): Promise<unknown> =>
  postJson(url, `/v1/data/app/${path}`, { input })

const SECRETS = {
  password: 'hunter2',
  token: 'abc',
  card: { number: '4111', 'a/b': 1 },
  list: [{ a: 1, b: 2 }, 5],
}
const upsert = (path: string, value: unknown): object => ({ op: 'upsert', path, value })

test.skipIf(newerOpa() === undefined)('the events are masked as those of OPA', async () => {
  const inputs: readonly unknown[] = [
    SECRETS,
    { ...SECRETS, masks: ['/input/card', '/result/card'] },
    { ...SECRETS, masks: ['/input/card/number', '/input/no', '/input/card/no/more', '/result/list/0/a'] },
    { ...SECRETS, masks: ['/input/list/0', '/input/list/7'] },
    { ...SECRETS, masks: ['/input'] },
    { ...SECRETS, masks: ['/result'] },
    { ...SECRETS, masks: [{ op: 'remove', path: '/input/card' }, upsert('/input/list', 'none')] },
    { ...SECRETS, masks: [upsert('/input/new/deep', { a: 1 }), upsert('/input/list/0/a', 'x')] },
    { ...SECRETS, masks: [upsert('/input', 'all'), upsert('/input/token/x', 1)] },
    { ...SECRETS, masks: [upsert('/result', null)] },
    { drop: true },
    'text',
    ['a', { b: 1 }],
    { last: true },
  ]
  const ofOpa = await startEventReceiver()
  const flags = Object.entries({
    'services.s.url': ofOpa.url,
    'decision_logs.service': 's',
    'decision_logs.reporting.min_delay_seconds': '1',
    'decision_logs.reporting.max_delay_seconds': '1',
    nd_builtin_cache: 'true',
  }).flatMap(([name, value]) => ['--set', `${name}=${value}`])
  const opa = await startOpa([...flags, join(workspace.path, 'policies')], newerOpa())
  const at = await serve('next-to-opa')
  for (const url of [opa.url, at.url]) {
    for (const input of inputs) await decide(url, input)
    await decide(url, { seed: 's', masks: ['/nd_builtin_cache/rand.intn'] }, 'random')
    await decide(url, { seed: 's', masks: [upsert('/nd_builtin_cache/rand.intn', 'x')] }, 'random')
    await decide(url, { seed: 's', masks: ['/result/number'] }, 'random')
  }
  const count = inputs.length - 1 + 3
  await Promise.all([untilEvents(count), untilEvents(count, ofOpa)])
  await Promise.all([opa.stop(), ofOpa.close()])
  const shown = ({ input, result, erased, masked, path }: SentEvent): object => ({
    ...{ input, result, erased, masked, path },
  })
  const decided = count - 3
  expect(receiver().events.slice(0, decided).map(shown)).toEqual(ofOpa.events.slice(0, decided).map(shown))
  const calls = ({ input, erased, masked, nd_builtin_cache: made }: SentEvent): object => ({
    ...{ input, erased, masked },
    calls: typeof made === 'object' && made !== null ? Object.entries(made).map(namesOf) : undefined,
  })
  const random = (events: readonly SentEvent[]): object[] => events.slice(decided).map(calls)
  expect(random(receiver().events)).toEqual(random(ofOpa.events))
})

/** The numbers differ. */
function namesOf([name, made]: readonly [string, unknown]): unknown[] {
  return [name, typeof made === 'object' && made !== null ? Object.keys(made) : made]
}

test('a mask that fails or does not end lets nothing leave, and the next decision is masked', async () => {
  const at = await serve('failing')
  await decide(at.url, { password: 'hunter2', zero: 0 })
  await decide(at.url, { password: 'hunter2', endless: true })
  await decide(at.url, { password: 'hunter2', masks: ['/labels'] })
  await decide(at.url, { password: 'hunter2', next: true })
  await untilEvents(4)
  expect(JSON.stringify(receiver().events.slice(0, 3))).not.toContain('hunter2')
  expect(
    receiver()
      .events.slice(0, 3)
      .map(({ input, result, erased }) => ({ input, result, erased })),
  ).toEqual([1, 2, 3].map(() => ({ input: undefined, result: undefined, erased: ['/input', '/result'] })))
  expect(receiver().events[3]).toMatchObject({ input: { next: true }, erased: ['/input/password'] })
  // The sink's thread reports its counts after it has sent the events.
  await waitUntil(
    async () =>
      (await ask(at.url, { path: '/metrics' })).text.includes(
        'tidegate_decision_sink_mask_failed_total{sink="central"} 3\n',
      )
        ? true
        : undefined,
    () => 'the failed masks are not counted',
  )
})

test('dropped decisions stay in the local log', async () => {
  const at = await serve('dropped')
  for (const drop of [true, true, false]) await decide(at.url, { drop })
  await untilEvents(1)
  expect(receiver().events).toMatchObject([{ input: { drop: false } }])
  const { text } = await ask(at.url, { path: '/decisions' })
  expect(text.match(/"decisionId"/g)).toHaveLength(3)
  await waitUntil(
    async () =>
      (await ask(at.url, { path: '/metrics' })).text.includes(
        'tidegate_decision_sink_dropped_total{sink="central"} 2',
      )
        ? true
        : undefined,
    () => 'the dropped decisions are not counted',
  )
})

test('the rules can have other names, also in a configuration of OPA', async () => {
  workspace.write({
    'opa.yaml': 'decision_logs: {mask_decision: /audit/hide, drop_decision: audit/skip}\n',
  })
  const args = ['--opa-config', join(workspace.path, 'opa.yaml')]
  const at = await serve('renamed', { directories: ['renamed'], args })
  await decide(at.url, { drop: true })
  await decide(at.url, { card: '4111' })
  await untilEvents(1)
  expect(receiver().events).toMatchObject([{ input: {}, erased: ['/input/card'] }])
})

test('masks of a new revision apply, and those of an earlier one end', async () => {
  const at = await serve('changing', { directories: ['changing'], args: ['--watch'] })
  await decide(at.url, { card: 'a' })
  await untilEvents(1)
  expect(receiver().events[0]).toMatchObject({ input: { card: 'a' } })
  const loads = (): number => at.log().filter(({ msg }) => msg === 'policies loaded').length
  const untilLoaded = (count: number): Promise<unknown> =>
    waitUntil(
      () => (loads() >= count ? true : undefined),
      () => at.logText(),
    )
  workspace.write({
    'changing/log.rego': 'package system.log\n\nimport rego.v1\n\nmask := ["/input/card"]\n',
  })
  await untilLoaded(2)
  await decide(at.url, { card: 'b' })
  await untilEvents(2)
  expect(receiver().events[1]).toMatchObject({ input: {}, erased: ['/input/card'] })
  workspace.write({ 'changing/log.rego': 'package other\n' })
  await untilLoaded(3)
  await decide(at.url, { card: 'c' })
  await untilEvents(3)
  expect(receiver().events[2]).toMatchObject({ input: { card: 'c' } })
})
