import { z } from 'zod'
import { BundleSigningSection } from './bundle-signing.js'
import { PolicyRequestsSection } from './policy-requests.js'
import { byteSize, byteSizeText } from '../values/byte-size.js'
import { key, wholeNumber, wholeNumberText } from '../values/key.js'

const KIB = 1024
const MIB = 1024 * KIB
/** Address space of 32-bit WASM. */
const MAX_WASM_BYTES = 4096 * MIB
/** Higher than any evaluation reaches within `MAX_DURATION_MS`. */
const MAX_ITERATIONS = 2_147_483_647
const MAX_DURATION_MS = 600_000
const MAX_SLICE_MS = 1000
const MAX_THREADS = 64
const MAX_QUEUE_LENGTH = 10_000
const MAX_WAIT_SECONDS = 600
const MIN_COMPILER_BYTES = 64 * MIB
const MAX_COMPILER_BYTES = 64 * 1024 * MIB
const MAX_COMPILER_SECONDS = 600
const MAX_CORES = 64
const MAX_PARSE_SECONDS = 60

/** What one run of the `opa` program may use. */
const CompilerSection = z.strictObject({
  timeoutSeconds: key(
    wholeNumber(1, MAX_COMPILER_SECONDS).default(20),
    'How long one run of the `opa` program may take, in seconds. Policies that take longer are not loaded; the last good ones stay in service.',
    wholeNumberText(1, MAX_COMPILER_SECONDS),
  ),
  maxMemoryBytes: key(
    byteSize(MIN_COMPILER_BYTES, MAX_COMPILER_BYTES).default(2048 * MIB),
    'The most memory that one run may use. Linux only; elsewhere it is a goal for the garbage collector.',
    byteSizeText(MIN_COMPILER_BYTES, MAX_COMPILER_BYTES),
  ),
  cores: key(
    wholeNumber(1, MAX_CORES).default(2),
    'How many cores one run computes on (`GOMAXPROCS`).',
    wholeNumberText(1, MAX_CORES),
  ),
})

/** What policies may have parsed while they decide. */
const ParseModuleSection = z.strictObject({
  enabled: key(
    z.boolean().default(false),
    'Whether policies may call `rego.parse_module`: the `opa` program is then run for each text that was not parsed before, some 30 ms of a core. Where it is false, policies that call it are not loaded.',
    'true or false',
  ),
  timeoutSeconds: key(
    wholeNumber(1, MAX_PARSE_SECONDS).default(2),
    'The longest that one module may take to be parsed; above it the answer is 500 `evaluation_request_refused`.',
    wholeNumberText(1, MAX_PARSE_SECONDS),
  ),
  maxTextBytes: key(
    byteSize(KIB, 16 * MIB).default(64 * KIB),
    'The longest module that is parsed; a decision with a longer one is 500 `evaluation_request_refused`.',
    byteSizeText(KIB, 16 * MIB),
  ),
  maxAnswerBytes: key(
    byteSize(KIB, 64 * MIB).default(4 * MIB),
    'The largest syntax tree that is taken, as JSON; a decision with a larger one is 500 `evaluation_request_refused`.',
    byteSizeText(KIB, 64 * MIB),
  ),
  programs: key(
    wholeNumber(1, MAX_THREADS).default(1),
    'How many `opa` programs parse at a time, in each process.',
    wholeNumberText(1, MAX_THREADS),
  ),
  queueLength: key(
    wholeNumber(0, MAX_QUEUE_LENGTH).default(32),
    'How many decisions may wait for one, in each process; beyond that the answer is 503 with `Retry-After`.',
    wholeNumberText(0, MAX_QUEUE_LENGTH),
  ),
  cacheBytes: key(
    byteSize(0, 1024 * MIB).default(16 * MIB),
    'What syntax trees may take that are kept for other decisions, by text, in each process.',
    byteSizeText(0, 1024 * MIB),
  ),
})

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
  limits: Limits.prefault({}),
  slowEvaluations: SlowEvaluations.prefault({}),
  requests: PolicyRequestsSection.prefault({}),
  parseModule: ParseModuleSection.prefault({}),
})
