import { z } from 'zod'
import { readIsoTime } from '../../lib/clocks/iso-time.js'
import { byteSizeKey } from '../values/byte-size.js'
import { booleanKey, key, wholeNumberKey } from '../values/key.js'
import { BundleSigningSection, PublishSection } from './bundle-signing.js'
import { PolicyRequestsSection } from './policy-requests.js'
import { PolicySourcesSection } from './policy-sources.js'

const MAX_SHARE = 99
const MAX_MINUTES = 10_080
const MAX_COUNT = 1_000_000_000

/** How new policies begin to serve. */
const StagedSection = z.strictObject({
  sharePercent: wholeNumberKey(
    { min: 0, max: MAX_SHARE, default: 0 },
    'Percentage of requests that new policies of sources, files or pins answer first, chosen by application. Afterwards they serve, or are taken back. With 0 they serve immediately. Needs `decisions.enabled`, because stored decisions are compared.',
  ),
  minutes: wholeNumberKey(
    { min: 0, max: MAX_MINUTES, default: 10 },
    'Shortest time before new policies answer all requests, in minutes.',
  ),
  decisions: wholeNumberKey(
    { min: 0, max: MAX_COUNT, default: 0 },
    'Smallest number of decisions that are compared with the previous policies before new ones answer all requests.',
  ),
  maxErrors: wholeNumberKey(
    { min: 0, max: MAX_COUNT, default: 0 },
    'New policies are taken back after more decisions that they alone cannot evaluate.',
  ),
  maxFlips: key(
    z.int().min(0).max(MAX_COUNT).optional(),
    'New policies are taken back after more decisions that they answer differently. Changed warnings do not count. Without it, other answers are counted and reported, because an intended change has them.',
    `a whole number from 0 to ${MAX_COUNT}`,
  ),
})

/** A pattern of packages, with a description of its own each time. */
function packagePatternKey(description: string): z.ZodString {
  return key(
    z.string().regex(/^[^.\s]+(?:\.[^.\s]+)*$/),
    description,
    'package segments joined by dots, `*` for one segment and `**` for any number: static.**',
  )
}

const MAX_ENTRIES = 1000
const MAX_REASON = 1000

const Entry = z.strictObject({
  package: packagePatternKey('The packages, with those below them.'),
  level: key(z.enum(['enforce', 'warn', 'off']), 'The level.', 'enforce, warn or off'),
  applications: key(
    z.array(z.string().min(1)).min(1).optional(),
    'The applications that it applies to. All by default.',
    'a list of names',
  ),
  until: key(
    z
      .string()
      .refine((text) => /^\d{4}-/.test(text) && Number.isFinite(readIsoTime(text, 'utc')))
      .optional(),
    'Its end, in UTC unless it names another offset. From then on the packages are enforced.',
    'a date such as 2027-01-31 or an ISO 8601 time',
  ),
  reason: key(z.string().max(MAX_REASON).optional(), 'Why, for the reports.', 'a text'),
})

/** The levels of packages. */
const PolicyLevels = key(
  z.array(Entry).max(MAX_ENTRIES).default([]),
  'How denials of packages count, each `{package, level}` and, where needed, `applications`, `until` and `reason`. `enforce` denies, `warn` makes denials warnings, `off` does not evaluate the package. The first entry that applies counts, then `custom.level` of the package, then `enforce`. After `until` its packages are enforced. See docs/guides/roll-out-a-policy.md.',
  'a list of {package, level, …}',
)

const MAX_DAYS = 3650

/** Exceptions from policies. */
const PolicyExceptions = z.strictObject({
  approval: booleanKey(
    false,
    'Whether an exception takes effect only when a second person with the role `approver` has approved it. The role `author` may then add exceptions; otherwise only `approver`.',
  ),
  maxDays: wholeNumberKey(
    { min: 1, max: MAX_DAYS, default: 90 },
    'Longest time from now to the end of a new exception, in days.',
  ),
  noticeDays: wholeNumberKey(
    { min: 1, max: MAX_DAYS, default: 7 },
    'Days before the end of an exception at which the trail and the log get a record of it.',
  ),
})

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

/** Limits of one run of the `opa` program. */
const CompilerSection = z.strictObject({
  timeoutSeconds: wholeNumberKey(
    { min: 1, max: MAX_COMPILER_SECONDS, default: 20 },
    'How long one run of the `opa` program may take, in seconds. Policies that take longer are not loaded, and the last good ones stay in service.',
  ),
  maxMemoryBytes: byteSizeKey(
    { min: MIN_COMPILER_BYTES, max: MAX_COMPILER_BYTES, default: 2048 * MIB },
    'Maximum memory of one run. Enforced on Linux; elsewhere it is a target for the garbage collector.',
  ),
  cores: wholeNumberKey(
    { min: 1, max: MAX_CORES, default: 2 },
    'Number of cores that one run may use (`GOMAXPROCS`).',
  ),
})

/** Limits of modules that policies parse during a decision. */
const ParseModuleSection = z.strictObject({
  enabled: booleanKey(
    false,
    'Whether policies may call `rego.parse_module`. It runs the `opa` program for each text that was not parsed before, which takes some 30 ms of a core. If false, policies that call it are not loaded.',
  ),
  timeoutSeconds: wholeNumberKey(
    { min: 1, max: MAX_PARSE_SECONDS, default: 2 },
    'Time limit for parsing one module, in seconds. Beyond it the answer is 500 `evaluation_request_refused`.',
  ),
  maxTextBytes: byteSizeKey(
    { min: KIB, max: 16 * MIB, default: 64 * KIB },
    'The longest module that is parsed. For a longer one the answer is 500 `evaluation_request_refused`.',
  ),
  maxAnswerBytes: byteSizeKey(
    { min: KIB, max: 64 * MIB, default: 4 * MIB },
    'The largest syntax tree as JSON. For a larger one the answer is 500 `evaluation_request_refused`.',
  ),
  programs: wholeNumberKey(
    { min: 1, max: MAX_THREADS, default: 1 },
    'Number of `opa` programs that run at a time, in each process.',
  ),
  queueLength: wholeNumberKey(
    { min: 0, max: MAX_QUEUE_LENGTH, default: 32 },
    'Number of decisions that may wait for one, in each process. Beyond it the answer is 503 with `Retry-After`.',
  ),
  cacheBytes: byteSizeKey(
    { min: 0, max: 1024 * MIB, default: 16 * MIB },
    'Memory for cached syntax trees, in each process.',
  ),
})

const path = (meaning: string): z.ZodString =>
  key(z.string().min(1), meaning, 'the path of a file or directory')

const Limits = z.strictObject({
  loopIterations: wholeNumberKey(
    { min: 1000, max: MAX_ITERATIONS, default: 200_000_000 },
    'Loop iterations and function calls that one evaluation may make, regardless of its input. Beyond it the answer is 500 `evaluation_budget_exceeded`.',
  ),
  loopIterationsPerInputByte: wholeNumberKey(
    { min: 0, max: 1_000_000, default: 100 },
    'Additional loop iterations and calls for each byte of input.',
  ),
  maxDurationMs: wholeNumberKey(
    { min: 1, max: MAX_DURATION_MS, default: 2000 },
    'CPU time of one evaluation, in milliseconds. Waiting for a core does not count.',
  ),
  sliceMs: wholeNumberKey(
    { min: 0, max: MAX_SLICE_MS, default: 15 },
    'How long an evaluation may block the deciding thread, in milliseconds. After that a slow thread repeats it. With 0, slow threads run all evaluations.',
  ),
  maxMemoryBytes: byteSizeKey(
    { min: MIB, max: MAX_WASM_BYTES, default: 512 * MIB },
    'Maximum memory of one evaluation, without the base documents.',
  ),
  recycleMemoryBytes: byteSizeKey(
    { min: MIB, max: MAX_WASM_BYTES, default: 64 * MIB },
    'An evaluator whose memory has grown beyond this is replaced when evaluations need less again.',
  ),
})

/** Threads for evaluations that exceed their slice. */
const SlowEvaluations = z.strictObject({
  threads: wholeNumberKey(
    { min: 1, max: MAX_THREADS, default: 1 },
    'Number of slow evaluations that run at a time, each in a separate thread with low priority.',
  ),
  queueLength: wholeNumberKey(
    { min: 0, max: MAX_QUEUE_LENGTH, default: 32 },
    'Number of evaluations that may wait for a thread. Beyond it the answer is 503 with `Retry-After`.',
  ),
  queueBytes: byteSizeKey(
    { min: MIB, max: MAX_WASM_BYTES, default: 64 * MIB },
    'Memory for the inputs of waiting evaluations.',
  ),
  maxWaitSeconds: wholeNumberKey(
    { min: 1, max: MAX_WAIT_SECONDS, default: 5 },
    'How long an evaluation may wait for a thread, in seconds. After that the answer is 503 with `Retry-After`.',
  ),
})

/** Policies that are evaluated next to those that serve. */
const ShadowSection = z.strictObject({
  directories: key(
    z.array(path('A directory.')).default([]),
    'Directories of Rego that are evaluated again with stored decisions, without any effect on responses. `GET /policies/shadow` lists what they would change.',
    'a list of directories',
  ),
  bundles: key(
    z.array(path('A bundle.')).default([]),
    'Bundles that are evaluated again with stored decisions, instead of directories or with them.',
    'a list of bundle files',
  ),
  sharePercent: wholeNumberKey(
    { min: 1, max: 100, default: 100 },
    'Percentage of decisions that the shadow evaluates. If it is slower than they arrive, the oldest are not evaluated and counted.',
  ),
})

/** Sources, limits and options of policies. */
export const PoliciesSection = z.strictObject({
  directories: key(
    z.array(path('A directory.')).default(['policies']),
    'Directories of Rego and `data.json`/`data.yaml`, compiled together. Empty by default if `policies.bundles` or `policies.sources` is set.',
    'a list of directories',
  ),
  bundles: key(
    z.array(path('A bundle.')).default([]),
    'OPA bundles (`.tar.gz`): with a `policy.wasm`, as `tidegate build` creates them, or with Rego, which is compiled with the directories.',
    'a list of bundle files',
  ),
  sources: PolicySourcesSection,
  opaConfig: key(
    z.string().min(1).optional(),
    'A configuration file of OPA, whose `services`, `bundles`, `keys`, `labels`, `discovery`, `default_decision`, `default_authorization_decision` and the names of masks in `decision_logs` are used. Members without an effect are logged.',
    'the path of a YAML or JSON file',
  ),
  bundleSigning: BundleSigningSection.prefault({}),
  publish: PublishSection.prefault({}),
  watch: booleanKey(
    false,
    'Compile and load again when a policy file changes. After a broken change the last good policies stay in service.',
  ),
  writable: booleanKey(
    false,
    'Whether clients with the role admin may change policies and base documents with `PUT`, `PATCH` and `DELETE` below `/v1/policies` and `/v1/data`, as in OPA. Changes are in memory and are lost when the service stops.',
  ),
  opa: key(
    z.string().min(1).optional(),
    'The `opa` program that compiles policies. By default the first of `OPA_BIN`, `opa` on `PATH`, the copy of `tidegate opa install`, the copy that npm installed.',
    'the path of the opa program',
  ),
  capabilities: key(
    z.string().min(1).optional(),
    'A capabilities file of OPA, as `opa capabilities --current` prints it. Policies that use a built-in function or feature that it leaves out are not loaded. The file is read at each load.',
    'the path of a JSON file',
  ),
  compiler: CompilerSection.prefault({}),
  staticPackages: key(
    z.array(packagePatternKey('A package pattern.')).default(['static.**']),
    'The packages evaluated when a pipeline is saved: dotted paths in which `*` is one segment and `**` any number.',
    'a list of package patterns such as static.**',
  ),
  levels: PolicyLevels,
  exceptions: PolicyExceptions.prefault({}),
  strictBuiltinErrors: key(
    z.enum(['verdicts', 'all', 'off']).default('verdicts'),
    'Which evaluations end with 500 `evaluation_failed` when a built-in function fails: those of static policies, runtime policies, gates and analysis checks (`verdicts`), in addition the Data API (`all`), or none (`off`). With `off` a failed call makes its rule undefined, so a denial can be lost.',
    'verdicts, all or off',
  ),
  undefinedData: key(
    z.enum(['warn', 'refuse']).default('warn'),
    'How to treat policies that read `data` which neither rules nor data files define, have rules that look like verdicts but are none, or have bodies that are never true: `warn` logs them, `refuse` does not load them.',
    'warn or refuse',
  ),
  defaultDecision: key(
    z
      .string()
      .regex(/^\/?[^/\s]+(?:\/[^/\s]+)*$/)
      .default('/system/main'),
    'The decision of `POST /` and `tidegate eval`.',
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
  authorization: key(
    z
      .string()
      .regex(/^(?:off|basic|\/[^/\s]+(?:\/[^/\s]+)*)$/)
      .default('off'),
    'The rule that authorizes each request in addition to roles, with the input of OPA: `basic` is `/system/authz/allow`, or `default_authorization_decision` of `policies.opaConfig`. Its value is a boolean, or an object with `allowed` and `reason`; anything but true refuses. Probes are exempt.',
    'off, basic, or the path of a rule, as in /system/authz/allow',
  ),
  shadow: ShadowSection.prefault({}),
  staged: StagedSection.prefault({}),
  limits: Limits.prefault({}),
  slowEvaluations: SlowEvaluations.prefault({}),
  requests: PolicyRequestsSection.prefault({}),
  parseModule: ParseModuleSection.prefault({}),
})

/** The rule of `policies.authorization` without a leading slash; undefined if it is off. */
export function authorizationDocument({
  authorization,
}: {
  readonly authorization: string
}): string | undefined {
  if (authorization === 'off') return undefined
  return authorization === 'basic' ? 'system/authz/allow' : authorization.slice(1)
}
