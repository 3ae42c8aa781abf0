import PQueue from 'p-queue'

import type { Config } from '../../config/config.js'
import { AppError } from '../../errors/app-error.js'
import type { ExplainTrial } from '../../explain/explain-trial.js'
import type { SourceTrial, TrySource } from '../../http/routes/policies/playground.js'
import {
  NEW_FILE,
  tryPolicies,
  type Policies,
  type PolicyTrialResult,
  type SourceText,
} from '../../rego/index.js'
import { findServiceOpa } from '../files/service-opa.js'

const MAX_WAITING = 4
/** Low priority, one core and little time, to favor decisions. */
const NICENESS = 10
const TIME_LIMIT_MS = 8000
const MEMORY_BYTES = 512 * 1024 * 1024

/**
 * Returns the function that tries a changed file together with the other loaded policies and data.
 * One runs at a time. Raises `unavailable` if too many wait.
 */
export function makeTrySource(
  config: Config,
  policies: Pick<Policies, 'current'>,
  explainTrial: ExplainTrial,
): TrySource {
  const queue = new PQueue({ concurrency: 1 })
  return async (trial) => {
    if (queue.size >= MAX_WAITING)
      throw new AppError('unavailable', 'The playground is busy. Try again in a few seconds.')
    return await queue.add(async () => {
      const tried = await runTrial(config, policies, trial)
      const { file = NEW_FILE, text, path, input, explain } = trial
      if (explain !== true) return tried
      const basis = { revision: policies.current.revision, nowMs: Date.now() }
      return {
        ...tried,
        explanation: await explainTrial({ file, text, path, input }, basis),
      }
    })
  }
}

async function runTrial(
  config: Config,
  { current }: Pick<Policies, 'current'>,
  { file = NEW_FILE, text, path, input }: SourceTrial,
): Promise<PolicyTrialResult> {
  const found = await findServiceOpa(config)
  const { cores = 1, memoryBytes = MEMORY_BYTES } = found.limits ?? {}
  const limits = {
    timeMs: TIME_LIMIT_MS,
    memoryBytes: Math.min(memoryBytes, MEMORY_BYTES),
    cores: Math.min(cores, 1),
  }
  const others = new Map<string, SourceText>(
    current.packages.flatMap((key) => current.sourcesOf(key)).map((source) => [source.file, source]),
  )
  const files = [...others.values()].filter((source) => source.file !== file)
  return await tryPolicies(
    { ...found, limits, niceness: NICENESS },
    { files: [...files, { file, text }], file, data: current.data, path, input },
  )
}
