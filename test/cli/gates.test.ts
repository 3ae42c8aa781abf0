import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { startReceiver } from '../support/callback-receiver.js'
import type { CallbackReceiver } from '../support/callback-receiver.js'
import { runTidegate } from '../support/run-tidegate.js'
import { startTidegate } from '../support/tidegate-process.js'
import { makeWorkspace } from '../support/workspace.js'
import type { TidegateProcess } from '../support/tidegate-process.js'
import { waitUntil } from '../support/wait-until.js'

const workspace = makeWorkspace()
let receiver: CallbackReceiver
let tidegate: TidegateProcess
beforeAll(async () => {
  receiver = await startReceiver()
  workspace.write({
    'policies/empty.rego': 'package empty\n\ndeny := []\n',
    'gate.yaml': 'name: Made\napplication: bank\napprovals: 2\n',
  })
  tidegate = await startTidegate({
    workspace,
    config: {
      callbacks: { allowLoopback: true },
      gates: { definitions: [{ id: 7, name: 'Release', application: 'shop', approvals: 2 }] },
    },
  })
})
afterAll(async () => {
  await tidegate.end('SIGTERM')
  await receiver.close()
  workspace.remove()
})

const gates = (...args: readonly string[]) =>
  runTidegate(['gates', ...args], { cwd: workspace.path, env: { TIDEGATE_URL: tidegate.url } })

/** Triggers gate 7 as ana and returns the instance's number. */
async function trigger(execution: string): Promise<string> {
  const urls = ['--approval-callback', `${receiver.url}/yes`, '--rejection-callback', `${receiver.url}/no`]
  const run = await gates('trigger', '7', '--execution', execution, '--as', 'ana', ...urls)
  const id = /^instance (\d+): activated\n$/.exec(run.stdout)?.[1]
  if (id === undefined) throw new Error(`not triggered: ${run.stdout}${run.stderr}`)
  return id
}

describe('tidegate gates', () => {
  test('lists gates, and makes one from a file', async () => {
    const made = await gates('create', 'gate.yaml')
    expect(made).toEqual({ exitCode: 0, stdout: 'gate 1000000000: Made\n', stderr: '' })
    const { stdout } = await gates('list')
    expect(stdout.split('\n').map((line) => line.trim().split(/ {2,}/))).toEqual([
      ['id', 'name', 'application', 'approvals', 'policy', 'declared in'],
      ['7', 'Release', 'shop', '2', 'configuration'],
      ['1000000000', 'Made', 'bank', '2', 'api'],
      [''],
    ])
  })

  test.each([
    ['Relase', "no gate is called 'Relase', did you mean Release?"],
    ['something', "no gate is called 'something'; there are Release, Made"],
  ])('tells which gates there are in place of %s', async (name, sentence) => {
    const urls = ['--approval-callback', `${receiver.url}/yes`, '--rejection-callback', `${receiver.url}/no`]
    const run = await gates('trigger', name, '--execution', 'e', ...urls)
    expect(run).toEqual({ exitCode: 2, stdout: '', stderr: `tidegate: ${sentence}\n` })
  })

  test('triggers a gate by its name', async () => {
    const urls = ['--approval-callback', `${receiver.url}/yes`, '--rejection-callback', `${receiver.url}/no`]
    const byName = await gates('trigger', 'Release', '--execution', 'named', '--as', 'ana', ...urls)
    expect(byName.stdout).toBe(`instance ${await trigger('named')}: activated\n`)
  })

  test('triggers, approves with a quorum and shows what came of it', async () => {
    const id = await trigger('approved')
    const first = await gates('approve', id, '--as', 'bo', '--comment', 'fine')
    expect(first).toEqual({
      exitCode: 0,
      stdout: `instance ${id}: activated (1 of 2 approvals)\n`,
      stderr: '',
    })
    expect((await gates('approve', id, '--as', 'cy')).stdout).toBe(`instance ${id}: approved\n`)
    const shown = await waitUntil(
      async () => {
        const { stdout } = await gates('show', id)
        return stdout.includes('delivered after 1 of') ? stdout : undefined
      },
      () => 'the callback was not delivered',
    )
    expect(shown).toMatch(new RegExp(`^instance ${id} of Release \\(gate 7\\): approved\n`))
    for (const words of [
      'triggered by  claimed:ana',
      'approvals     2 of 2',
      'bo: approve fine',
      'cy: approve',
      '/yes',
    ])
      expect(shown).toContain(words)
  })

  test.each([
    ['reject', 'rejected'],
    ['cancel', 'canceled'],
  ])('ends an instance with %s', async (action, status) => {
    const id = await trigger(action)
    expect((await gates(action, id, '--as', 'bo')).stdout).toBe(`instance ${id}: ${status}\n`)
    const list = await gates('instances', '--execution', action, '--format', 'json')
    expect(JSON.parse(list.stdout)).toMatchObject({ instances: [{ id: Number(id), status }] })
  })

  test('says why a decision is not taken, with the present state', async () => {
    const id = await trigger('refused')
    const own = await gates('approve', id, '--as', 'ana')
    expect([own.exitCode, own.stderr]).toEqual([
      2,
      expect.stringContaining('may not approve it: someone else must'),
    ])
    await gates('reject', id, '--as', 'bo')
    const late = await gates('approve', id, '--as', 'cy')
    expect(late.exitCode).toBe(2)
    expect(late.stderr).toMatch(new RegExp(`^tidegate: instance ${id} is closed: it was rejected by bo at `))
    expect(late.stderr).toContain('present_state: rejected')
  })

  test('asks for a name where different people must approve', async () => {
    const id = await trigger('nameless')
    const { exitCode, stderr } = await gates('approve', id)
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('--as')])
  })

  test('lists what waits by its deadline, how many there are, and what a search finds', async () => {
    const ids = [await trigger('waiting-1'), await trigger('waiting-2'), await trigger('waiting-3')]
    const list = ['instances', '--status', 'activated', '--order', 'deadline', '--search', 'WAITING']
    const { stdout } = await gates(...list, '--limit', '2')
    const [heads, first, second, counted, more] = stdout.split('\n')
    expect(heads).toMatch(/^ *id +gate +application +execution +status +since +expires +comment$/)
    expect([first, second].map((line) => line?.trim().split(' ')[0])).toEqual(ids.slice(0, 2))
    expect(counted).toBe('2 of 3')
    const cursor = /^more: --cursor (\S+)$/.exec(more ?? '')?.[1] ?? ''
    expect((await gates(...list, '--cursor', cursor)).stdout).toContain('waiting-3')
    const wrong = await gates('instances', '--order', 'deadline')
    expect([wrong.exitCode, wrong.stderr]).toEqual([2, expect.stringContaining('only for status=activated')])
  })

  test('sends a callback again when asked to', async () => {
    const id = await trigger('again')
    await gates('reject', id, '--as', 'bo')
    const arrived = () =>
      receiver.received.filter(({ body }) => body['approvalGateInstanceId'] === Number(id))
    await waitUntil(
      async () => (await gates('show', id)).stdout.includes('delivered after 1') || undefined,
      () => 'no callback came',
    )
    const resent = await gates('resend', id)
    expect(resent.stdout).toBe(`${receiver.url}/no: pending\n`)
    await waitUntil(
      () => arrived().length === 2 || undefined,
      () => 'no second callback came',
    )
    expect(new Set(arrived().map(({ webhookId }) => webhookId)).size).toBe(1)
  })

  test.each([
    [['show', '99999'], 'there is no approval gate instance 99999'],
    [['approve', 'x'], 'an instance must be a number, not "x"'],
    [['trigger', '7'], "required option '--execution <id>' not specified"],
    [['lst'], "unknown command 'lst'"],
  ])('refuses %j', async (args, words) => {
    const { exitCode, stdout, stderr } = await gates(...args)
    expect([exitCode, stdout]).toEqual([2, ''])
    expect(stderr).toContain(words)
  })

  test('tells that no service answers', async () => {
    const { exitCode, stderr } = await gates('list', '--url', 'http://127.0.0.1:1')
    expect(exitCode).toBe(2)
    expect(stderr).toMatch(/^tidegate: No service responds at http:\/\/127\.0\.0\.1:1 /)
  })
})
