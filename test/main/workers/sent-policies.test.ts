import { readdirSync } from 'node:fs'
import { join } from 'node:path'

import { afterAll, expect, test, vi } from 'vitest'

import { WorkerPolicies } from '../../../src/main/worker-process/worker-policies.js'
import { PolicySender } from '../../../src/main/workers/sent-policies.js'
import type { SentPolicies } from '../../../src/main/workers/worker-calls.js'
import { hostBuiltins } from '../../../src/rego/builtins/index.js'
import { evaluateDocument, planDocument } from '../../../src/rego/evaluation/evaluate-document.js'
import { newCall } from '../../../src/rego/evaluation/new-call.js'
import { Policies } from '../../../src/rego/loading/policies.js'
import { findOpa } from '../../../src/rego/opa/find-opa.js'
import type { Snapshot } from '../../../src/rego/snapshot/snapshot.js'
import { DEFAULT_LIMITS } from '../../support/default-limits.js'
import { makeWorkspace } from '../../support/workspace.js'

const workspace = makeWorkspace()
afterAll(workspace.remove)

const LARGE = 2 * 1024 * 1024

const OPTIONS = {
  findOpa: () => findOpa({ env: process.env }),
  builtins: hostBuiltins,
  limits: DEFAULT_LIMITS,
  // As policies with hundreds of paths are compiled.
  maxEntrypoints: 0,
}

function policy(name: string, version: number): Record<string, string> {
  return {
    [`policies/${name}.rego`]: `package ${name}\n\nimport rego.v1\n\nversion := ${version}\n\nnote := data.note.text\n`,
  }
}

async function openPolicies(data: string): Promise<Policies> {
  workspace.write({
    ...policy('one', 1),
    ...policy('two', 1),
    'policies/data.json': JSON.stringify({ note: { text: data } }),
  })
  const observer = { loaded: () => undefined, failed: () => undefined }
  return await Policies.open(
    { directories: [join(workspace.path, 'policies')], bundles: [] },
    OPTIONS,
    observer,
  )
}

/** What a message between processes makes of it. */
function arrived(sent: SentPolicies): SentPolicies {
  return structuredClone(sent)
}

function ask(snapshot: Snapshot, name: string): string | undefined {
  return evaluateDocument(planDocument(snapshot, [name, 'version']), undefined, newCall())
}

function codeSent({ snapshot }: SentPolicies): boolean[] {
  return snapshot.modules.map(({ code }) => code !== undefined)
}

test('a worker is sent the module of each reload, and keeps the data that stay', async () => {
  const folder = join(workspace.path, 'sent')
  const sender = new PolicySender(folder)
  const policies = await openPolicies('x'.repeat(LARGE))
  const worker = await WorkerPolicies.open(arrived(await sender.prepare(policies.current)), DEFAULT_LIMITS)

  workspace.write(policy('one', 2))
  await policies.reload()
  const sent = await sender.prepare(policies.current)
  expect(codeSent(sent)).toEqual([true])
  expect(sent.image.content).toBeUndefined()
  await worker.load(arrived(sent))
  expect(ask(worker.current, 'one')).toBe('1')
  worker.activate(sent.id)
  expect([ask(worker.current, 'one'), ask(worker.current, 'two')]).toEqual(['2', '1'])

  // One that starts now has nothing yet.
  const { latest } = sender
  if (latest === undefined) throw new Error('nothing was prepared')
  const late = await WorkerPolicies.open(arrived(latest), DEFAULT_LIMITS)
  expect([ask(late.current, 'one'), ask(late.current, 'two')]).toEqual(['2', '1'])
})

test('base documents that are replaced come whole, and their file goes once all have them', async () => {
  const folder = join(workspace.path, 'replaced')
  const sender = new PolicySender(folder)
  const policies = await openPolicies('a'.repeat(LARGE))
  const worker = await WorkerPolicies.open(arrived(await sender.prepare(policies.current)), DEFAULT_LIMITS)
  workspace.write({ 'policies/data.json': JSON.stringify({ note: { text: 'b'.repeat(LARGE) } }) })
  await policies.reload()
  const sent = await sender.prepare(policies.current)
  expect(codeSent(sent)).toEqual([true])
  await worker.load(arrived(sent))
  worker.activate(sent.id)
  vi.useFakeTimers({ toFake: ['setTimeout'] })
  await sender.forgetOlder()
  expect(readdirSync(folder)).toEqual(['data-2'])
  expect(sender.find(1)).toBeDefined()
  // What the replaced ones hold is given back once no decision can ask for them any more.
  vi.advanceTimersByTime(60_000)
  vi.useRealTimers()
  expect([sender.find(1), sender.find(2)]).toEqual([undefined, policies.current])
  const note = evaluateDocument(planDocument(worker.current, ['two', 'note']), undefined, newCall())
  expect(note).toBe(JSON.stringify('b'.repeat(LARGE)))
})

test('of replaced policies those before the last are forgotten where their data are large', async () => {
  const sender = new PolicySender(join(workspace.path, 'large'), LARGE + LARGE / 2)
  const policies = await openPolicies('a'.repeat(LARGE))
  await sender.prepare(policies.current)
  const { image } = policies.current
  const replaced = (letter: string): Snapshot => ({
    ...policies.current,
    image: { ...image, bytes: Uint8Array.from(image.bytes).fill(letter.charCodeAt(0), LARGE) },
  })
  for (const letter of 'bcd') await sender.prepare(replaced(letter))
  expect([1, 2, 3, 4].map((id) => sender.find(id) !== undefined)).toEqual([false, true, true, true])
})

test('a file that a starting worker reads stays until it has, and of policies that come side by side the last serve', async () => {
  const folder = join(workspace.path, 'overtaken')
  const sender = new PolicySender(folder)
  const policies = await openPolicies('a'.repeat(LARGE))
  await sender.prepare(policies.current)
  const reads = sender.latest
  if (reads === undefined) throw new Error('nothing was prepared')
  const reloaded = async (text: string): Promise<SentPolicies> => {
    workspace.write({ 'policies/data.json': JSON.stringify({ note: { text } }) })
    await policies.reload()
    return await sender.prepare(policies.current)
  }
  const second = await reloaded('b'.repeat(LARGE))
  await sender.forgetOlder([reads])
  expect(readdirSync(folder).sort()).toEqual(['data-1', 'data-2'])
  const worker = await WorkerPolicies.open(arrived(reads), DEFAULT_LIMITS)
  await worker.load(arrived(sender.latest ?? second))
  const third = await reloaded('c')
  await worker.load(arrived(third))
  worker.activate(second.id)
  worker.activate(third.id)
  worker.activate(second.id)
  expect(worker.idOf(worker.current)).toBe(third.id)
  await sender.forgetOlder()
  expect(readdirSync(folder)).toEqual([])
})

test('a worker that lacks what it was said to have cannot load', async () => {
  const sender = new PolicySender(join(workspace.path, 'lacking'))
  const policies = await openPolicies('small')
  await sender.prepare(policies.current)
  const sent = await sender.prepare(policies.current)
  await expect(WorkerPolicies.open(arrived(sent), DEFAULT_LIMITS)).rejects.toMatchObject({ kind: 'internal' })
})
