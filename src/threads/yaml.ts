import { parentPort } from 'node:worker_threads'

import { lowerThreadPriority } from '../lib/threads/thread-cpu-time.js'
import type { YamlOutcome, YamlRequest } from '../main/threads/yaml-thread.js'
import { yamlToJson } from '../rego/index.js'
import { toFailure } from '../lib/threads/failure.js'

const NICENESS = 5

// Entry point of the thread that parses YAML bodies.
if (parentPort !== null) {
  const port = parentPort
  // Decisions on the same core take precedence.
  lowerThreadPriority(NICENESS)
  port.on('message', ({ text, maxBytes }: YamlRequest) => port.postMessage(outcomeOf(text, maxBytes)))
}

function outcomeOf(text: string, maxBytes: number): YamlOutcome {
  try {
    return { ok: true, json: yamlToJson(text, maxBytes) }
  } catch (raw) {
    return { ok: false, failure: toFailure(raw) }
  }
}
