import { MessageChannel } from 'node:worker_threads'

import { afterEach, expect, test, vi } from 'vitest'

import { hostBuiltins } from '../../../src/pdp/builtins/index.js'
import type { Answered, FromSlowThread } from '../../../src/pdp/slow/messages.js'
import { packSnapshot } from '../../../src/pdp/slow/packed-snapshot.js'
import { serveQuestions } from '../../../src/pdp/slow/serve-questions.js'
import { DEFAULT_LIMITS } from '../../support/default-limits.js'
import { loadPolicies } from '../../support/load-policies.js'
import { countMemories } from '../../support/count-memories.js'

afterEach(() => {
  vi.useRealTimers()
})

test('a thread that nobody has asked for three seconds gives back what its evaluations needed', async () => {
  const snapshot = await loadPolicies({ 'p.rego': 'package p\n\nimport rego.v1\n\nx := count(input)\n' })
  const { port1, port2 } = new MessageChannel()
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  serveQuestions(port1, hostBuiltins)
  port2.postMessage({ type: 'load', snapshot: packSnapshot(snapshot), limits: DEFAULT_LIMITS })
  const ask = (input: string): Promise<Answered['answer']> =>
    new Promise((resolve) => {
      port2.on('message', (message: FromSlowThread) => {
        if (message.type === 'answered') resolve(message.answer)
      })
      const question = { kind: 'document', path: ['p', 'x'] }
      const request = { question, input: Buffer.from(input), nowMs: 0, strictBuiltinErrors: false }
      port2.postMessage({ type: 'ask', request })
    })
  expect(await ask(`[${'{"key":[1,"text",null]},'.repeat(100_000)}0]`)).toBe('100001')

  const made = countMemories()
  await vi.advanceTimersByTimeAsync(2900)
  expect(await ask('[1,2]')).toBe('2')
  expect(made()).toBe(0)
  await vi.advanceTimersByTimeAsync(3100)
  expect(await ask('[1,2]')).toBe('2')
  expect(made()).toBe(1)
  port2.close()
})
