import PQueue from 'p-queue'

import type { Config } from '../../config/config.js'
import { AppError } from '../../errors/app-error.js'
import type { ExplainTrial } from '../../explain/explain-trial.js'
import type { PolicyTrials } from '../../http/routes/policies/playground.js'
import {
  NEW_FILE,
  coverInputs,
  readTests,
  testPackage,
  tryPolicies,
  type LoadOptions,
  type OpaProgram,
  type Policies,
  type Snapshot,
  type SourceText,
} from '../../rego/index.js'
import { findServiceOpa } from '../files/service-opa.js'

const MAX_WAITING = 4
/** Low priority, one core and little time, to favor decisions. */
const NICENESS = 10
const TIME_LIMIT_MS = 8000
/** Timeout of each run of all tests of a package. */
const TEST_LIMIT_MS = 20_000
const MEMORY_BYTES = 512 * 1024 * 1024

interface TrialParts {
  readonly explainTrial: ExplainTrial
  /** How the bundles that tests are read of are verified. */
  readonly verification: NonNullable<LoadOptions['verification']>
}

/**
 * Returns the functions that evaluate policies for their authors: a changed file together with the
 * other loaded policies and data, the tests of a package, and its coverage. One runs at a time. They
 * raise `unavailable` if too many wait.
 */
export function makePolicyTrials(
  config: Config,
  policies: Pick<Policies, 'current' | 'locations'>,
  { explainTrial, verification }: TrialParts,
): PolicyTrials {
  const queue = new PQueue({ concurrency: 1 })
  const inTurn = async <T>(run: (opa: OpaProgram) => Promise<T>): Promise<T> => {
    if (queue.size >= MAX_WAITING)
      throw new AppError('unavailable', 'Too many evaluations wait. Try again in a few seconds.')
    return await queue.add(async () => run(await findLimitedOpa(config)))
  }
  return {
    trySource: ({ file = NEW_FILE, text, path, input, explain }) =>
      inTurn(async (opa) => {
        const { current } = policies
        const others = filesOf(current).filter((source) => source.file !== file)
        const files = [...others, { file, text }]
        const tried = await tryPolicies(opa, { files, file, data: current.data, path, input })
        if (explain !== true) return tried
        const basis = { revision: current.revision, nowMs: Date.now() }
        return { ...tried, explanation: await explainTrial({ file, text, path, input }, basis) }
      }),
    testPackage: (packagePath) =>
      inTurn(async (opa) => {
        const { current } = policies
        const rego = [...filesOf(current), ...(await readTests(policies.locations, { verification }))]
        return await testPackage(opa, { rego, data: current.data }, packagePath, TEST_LIMIT_MS)
      }),
    coverInputs: (inputs, files) =>
      inTurn(async (opa) => {
        const { current } = policies
        return await coverInputs(opa, { files: filesOf(current), data: current.data }, inputs, files)
      }),
  }
}

/** Returns the loaded files, each once. */
function filesOf({ packages, sourcesOf }: Snapshot): readonly SourceText[] {
  return [...new Map(packages.flatMap(sourcesOf).map((source) => [source.file, source])).values()]
}

async function findLimitedOpa(config: Config): Promise<OpaProgram> {
  const found = await findServiceOpa(config)
  const { cores = 1, memoryBytes = MEMORY_BYTES } = found.limits ?? {}
  const limits = {
    timeMs: TIME_LIMIT_MS,
    memoryBytes: Math.min(memoryBytes, MEMORY_BYTES),
    cores: Math.min(cores, 1),
  }
  return { ...found, limits, niceness: NICENESS }
}
