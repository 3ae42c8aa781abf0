import { parentPort } from 'node:worker_threads'

import { loadPolicy } from '@open-policy-agent/opa-wasm'

import { toError } from '../errors/app-error.js'
import type { PlainAnswer, PlainQuestion } from '../main/threads/plain-host-thread.js'
import { isRecord } from '../lib/validation/record.js'

const LACKING = /^not implemented: built-in function \d+: (?<name>\S+)$/

// Entry point of the thread that runs OPA's own host of modules.
if (parentPort !== null) {
  const port = parentPort
  port.on(
    'message',
    (question: PlainQuestion) => void answer(question).then((given) => port.postMessage(given)),
  )
}

async function answer({ module, data, entrypoint, input }: PlainQuestion): Promise<PlainAnswer> {
  try {
    const policy = await loadPolicy(module)
    policy.setData(JSON.parse(data) as object)
    const results: unknown = policy.evaluate(input === undefined ? undefined : JSON.parse(input), entrypoint)
    const [result] = Array.isArray(results) ? (results as unknown[]) : []
    return { kind: 'value', json: isRecord(result) ? JSON.stringify(result['result']) : undefined }
  } catch (raw) {
    // The library throws strings and plain objects.
    const message =
      isRecord(raw) && typeof raw['message'] === 'string' ? raw['message'] : toError(raw).message
    const builtin = LACKING.exec(message)?.groups?.['name']
    return builtin === undefined ? { kind: 'failed', message } : { kind: 'lacking', builtin }
  }
}
