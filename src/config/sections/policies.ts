import { z } from 'zod'

import { BundleSigningSection } from './bundle-signing.js'
import { CompilerSection } from './compiler.js'
import { ParseModuleSection } from './parse-module.js'
import { PolicyRequestsSection } from './policy-requests.js'
import { byteSize, byteSizeText } from '../values/byte-size.js'
import { key, wholeNumber, wholeNumberText } from '../values/key.js'

const MIB = 1024 * 1024
/** What WASM can address. */
const MAX_WASM_BYTES = 4096 * MIB
/** More than any policy makes in the longest time there is. */
const MAX_ITERATIONS = 2_147_483_647
const MAX_DURATION_MS = 600_000
const MAX_SLICE_MS = 1000
const MAX_THREADS = 64
const MAX_QUEUE_LENGTH = 10_000
const MAX_WAIT_SECONDS = 600

const path = (meaning: string): z.ZodString =>
  key(z.string().min(1), meaning, 'the path of a file or directory')
const packagePattern = key(
  z.string().regex(/^[^.\s]+(?:\.[^.\s]+)*$/),
  'A package pattern.',
  'package segments joined by dots, `*` for one segment and `**` for any number: static.**',
)

/** What one evaluation may use. */
const Limits = z.strictObject({
  loopIterations: key(
    wholeNumber(1000, MAX_ITERATIONS).default(200_000_000),
    'Loop iterations and calls of functions that one evaluation may make, whatever its input; above it the answer is 500 `evaluation_budget_exceeded`.',
    wholeNumberText(1000, MAX_ITERATIONS),
  ),
  loopIterationsPerInputByte: key(
    wholeNumber(0, 1_000_000).default(100),
    'Loop iterations and calls granted on top for each byte of input.',
    wholeNumberText(0, 1_000_000),
  ),
  maxDurationMs: key(
    wholeNumber(1, MAX_DURATION_MS).default(2000),
    'The longest that one evaluation may be at work, in milliseconds on a core: waiting for a busy one does not count.',
    wholeNumberText(1, MAX_DURATION_MS),
  ),
  sliceMs: key(
    wholeNumber(0, MAX_SLICE_MS).default(15),
    'How long an evaluation may hold the thread that decides, in milliseconds; then one of the slow threads does it again. 0 leaves all evaluations to those.',
    wholeNumberText(0, MAX_SLICE_MS),
  ),
  maxMemoryBytes: key(
    byteSize(MIB, MAX_WASM_BYTES).default(512 * MIB),
    'The most memory that one evaluation may use, beside the base documents.',
    byteSizeText(MIB, MAX_WASM_BYTES),
  ),
  recycleMemoryBytes: key(
    byteSize(MIB, MAX_WASM_BYTES).default(64 * MIB),
    'An evaluator whose memory has grown past this is replaced when evaluations no longer need so much.',
    byteSizeText(MIB, MAX_WASM_BYTES),
  ),
})

/** The threads that do what takes longer than its slice. */
const SlowEvaluations = z.strictObject({
  threads: key(
    wholeNumber(1, MAX_THREADS).default(1),
    'How many evaluations that take long run at a time, each in a thread of its own with low priority.',
    wholeNumberText(1, MAX_THREADS),
  ),
  queueLength: key(
    wholeNumber(0, MAX_QUEUE_LENGTH).default(32),
    'How many may wait for a thread; beyond that the answer is 503 with `Retry-After`.',
    wholeNumberText(0, MAX_QUEUE_LENGTH),
  ),
  queueBytes: key(
    byteSize(MIB, MAX_WASM_BYTES).default(64 * MIB),
    'How much the inputs that wait may take in memory.',
    byteSizeText(MIB, MAX_WASM_BYTES),
  ),
  maxWaitSeconds: key(
    wholeNumber(1, MAX_WAIT_SECONDS).default(5),
    'How long one may wait for a thread, in seconds; then the answer is 503 with `Retry-After`.',
    wholeNumberText(1, MAX_WAIT_SECONDS),
  ),
})

/** Which policies answer, and how. */
export const PoliciesSection = z.strictObject({
  directories: key(
    z.array(path('A directory.')).default(['policies']),
    'Directories of Rego and `data.json`/`data.yaml`, compiled together. None by default where `policies.bundles` are given.',
    'a list of directories',
  ),
  bundles: key(
    z.array(path('A bundle.')).default([]),
    'OPA bundles (`.tar.gz`) that hold a `policy.wasm`, as `tidegate build` makes them.',
    'a list of bundle files',
  ),
  bundleSigning: BundleSigningSection.prefault({}),
  watch: key(
    z.boolean().default(false),
    'Compile and load again when a policy file changes; a broken change leaves the last good policies serving.',
    'true or false',
  ),
  opa: key(
    z.string().min(1).optional(),
    'The `opa` program to compile with; else `OPA_BIN`, `opa` on `PATH`, what `tidegate opa install` fetched, the copy that npm installed.',
    'the path of the opa program',
  ),
  compiler: CompilerSection.prefault({}),
  staticPackages: key(
    z.array(packagePattern).default(['static.**']),
    'The packages asked when a pipeline is saved: dotted paths in which `*` is one segment and `**` any number.',
    'a list of package patterns such as static.**',
  ),
  strictBuiltinErrors: key(
    z.enum(['verdicts', 'all', 'off']).default('verdicts'),
    'Which evaluations end with 500 `evaluation_failed` when a built-in function fails: `verdicts` those of static policies, runtime policies, gates and checks of analyses; `all` also the Data API; `off` none, so that a failed call makes its rule undefined and a denial can be lost.',
    'verdicts, all or off',
  ),
  undefinedData: key(
    z.enum(['warn', 'refuse']).default('warn'),
    'What happens to policies that read `data` which neither rules nor data files define, have rules that look like verdicts and are none, or bodies that never hold: `warn` tells of them, `refuse` does not load them.',
    'warn or refuse',
  ),
  defaultDecision: key(
    z
      .string()
      .regex(/^\/?[^/\s]+(?:\/[^/\s]+)*$/)
      .default('/system/main'),
    'What `POST /` and `tidegate eval` answer.',
    'the path of a rule or package, as in /system/main',
  ),
  accessDecision: key(
    z
      .string()
      .regex(/^\/?[^/\s]+(?:\/[^/\s]+)*$/)
      .optional(),
    'Document that decides the access evaluations of AuthZEN (`POST /access/v1/evaluation`); these respond with 404 without it. Its value is a boolean, or an object with a boolean `decision` and an optional `context`.',
    'the path of a rule, as in /authz/allow',
  ),
  limits: Limits.prefault({}),
  slowEvaluations: SlowEvaluations.prefault({}),
  requests: PolicyRequestsSection.prefault({}),
  parseModule: ParseModuleSection.prefault({}),
})
