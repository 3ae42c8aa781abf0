import { AppError } from '../errors/app-error.js'
import { nearestName, suggestion } from '../lib/text/nearest-name.js'
import { REDACTION_MARK } from '../lib/redaction/redacted.js'
import { MASK_MARK } from '../decisions/mask-input.js'
import {
  explainEvaluations,
  packageMatcher,
  packagePath,
  pathKey,
  pathOfKey,
  pathsOf,
  printPackageName,
  replayCalls,
  strictnessOf,
  type ExplainMode,
  type Explanation,
  type KeptRevisions,
  type KeptSources,
  type PolicyRequests,
  type Question,
  type Snapshot,
  type TracedPolicies,
} from '../rego/index.js'
import type { Config } from '../config/config.js'
import { questionFor, questionsFor } from './decision-questions.js'
import { isReproduced, recordedFindings } from './recorded-findings.js'
import type { ExplainableDecision, RecordedFindings } from './recorded-findings.js'
import { EMPTY_TRACE } from './traced-runs.js'
import type { TracedResult, TracedRuns } from './traced-runs.js'

/** A limit of an explanation. */
export interface ExplanationNote {
  readonly code:
    | 'redacted_input'
    | 'recorded_requests'
    | 'bundle_without_rego'
    | 'other_result'
    | 'unknown_result'
    | 'level_warn'
  readonly message: string
}

/** Why a decision was made as it was. */
export interface DecisionExplanation extends Explanation {
  readonly decisionId: string
  readonly revision: string
  readonly outcome: string
  /** True if the evaluation gave the recorded result again; absent if that is unknown. */
  readonly reproduced?: boolean | undefined
  /** Why the evaluation failed. The explanation then ends there. */
  readonly error?: string | undefined
  readonly notes: readonly ExplanationNote[]
}

export interface ExplainDecisionDeps {
  readonly runs: TracedRuns
  readonly revisions: Pick<KeptRevisions, 'read'>
  /** Parses modules for `rego.parse_module`; sends nothing. */
  readonly requests: Pick<PolicyRequests, 'begin'>
  readonly policies: Config['policies']
}

export interface ExplainDecisionOptions {
  readonly mode: ExplainMode
  /** The only package to explain; those that deny, or all that were evaluated, by default. */
  readonly package?: string | undefined
}

/** `explainDecision` of a service. */
export type ExplainDecision = (
  decision: ExplainableDecision,
  options: ExplainDecisionOptions,
) => Promise<DecisionExplanation>

/**
 * Evaluates the stored input, policies, data and answers of other hosts of a decision again, and
 * explains the result. Raises `conflict` if the stored input or data is incomplete, `not_found` if
 * the sources of the revision are not stored, and `unavailable` if too many explanations wait.
 */
export async function explainDecision(
  { runs, revisions, requests, policies }: ExplainDecisionDeps,
  decision: ExplainableDecision,
  options: ExplainDecisionOptions,
): Promise<DecisionExplanation> {
  const { decisionId, revision, outcome, timeMs, ndBuiltinCache } = decision
  refuseIncompleteInput(decision)
  const sources = await revisions.read(revision, timeMs)
  if (sources === undefined) throw revisionGone(decision)
  refuseIncompleteSources(sources)
  return await runs.inTurn(async () => {
    const findings = recordedFindings(decision.packages)
    const wanted = wantedPackages(decision, sources, policies.staticPackages, {
      ...{ findings, only: options.package },
    })
    const first = questionFor(decision, [...wanted].map(pathKey))
    const traced = await runs.load(sources, wanted.length > 0 ? wanted : pathsOf(first))
    const keys = packageKeys(traced.snapshot, wanted)
    if (options.package !== undefined && keys.length === 0) throw unknownPackage(options.package, sources)
    const questions = questionsFor(decision, traced, {
      keys,
      findings,
      levels: policies.levels,
      isNamed: options.package !== undefined,
    })
    const calls = replayCalls(Buffer.from(ndBuiltinCache ?? '{}').toString(), requests)
    const isVerdict = decision.kind !== 'data' || decision.path === policies.accessDecision
    const results: TracedResult[] = []
    for (const question of questions)
      results.push(
        await runs.run(traced, {
          ...{ question, calls, nowMs: calls.nowMs ?? timeMs, input: decision.input ?? undefined },
          ...strictnessOf(policies.strictBuiltinErrors, isVerdict && decision.kind !== 'default'),
        }),
      )
    const error = results.find((result) => result.error !== undefined)?.error
    const reproduced =
      options.package === undefined ? isReproduced(decision, findings, questions, results) : undefined
    return {
      ...{ decisionId, revision, outcome },
      ...(reproduced !== undefined && { reproduced }),
      ...(error !== undefined && { error: error.message }),
      notes: [
        ...notesOf(decision, sources, traced, { reproduced, isPart: options.package !== undefined }),
        ...warningNotes(questions),
      ],
      ...explainEvaluations(
        traced,
        questions.map((question, place) => ({ question, trace: results[place]?.trace ?? EMPTY_TRACE })),
        options.mode,
      ),
    }
  })
}

function refuseIncompleteInput({ input, inputBytes, inputTruncated }: ExplainableDecision): void {
  if (inputBytes === null || (input !== null && !inputTruncated)) return
  const stored =
    input === null
      ? 'The input of this decision was not stored, because it could not be masked or the log was full'
      : `Only ${input.length} of ${inputBytes} bytes of the input of this decision are stored`
  throw new AppError(
    'conflict',
    `${stored}. It cannot be explained; raise decisions.maxInputBytes for later ones.`,
    { code: 'incomplete_input' },
  )
}

function revisionGone({ revision }: ExplainableDecision): AppError {
  return new AppError(
    'not_found',
    `The policies of revision ${revision} are not stored here: they were removed, another service decided, or decisions.enabled or decisions.maxSourcesBytes excludes them.`,
    { code: 'revision_gone' },
  )
}

/** Raises `conflict` for sources without data or Rego. */
export function refuseIncompleteSources({
  rego,
  withoutRego,
  dataBytesLeftOut,
  revision,
}: KeptSources): void {
  if (dataBytesLeftOut > 0) {
    throw new AppError(
      'conflict',
      `The data of revision ${revision} (${dataBytesLeftOut} bytes) is not stored, so its decisions cannot be explained. Raise decisions.maxSourcesBytes to four times its size.`,
      { code: 'incomplete_data' },
    )
  }
  if (rego.length > 0) return
  throw new AppError(
    'conflict',
    `${withoutRego.join(', ')} contains no Rego, so its decisions cannot be explained. Build the bundle with its sources.`,
    { code: 'no_sources' },
  )
}

function unknownPackage(name: string, { rego, revision }: KeptSources): AppError {
  const names = rego.flatMap(({ text }) => printPackageName(packagePath(text) ?? []))
  const hint = suggestion(nearestName(name, names))
  return new AppError('not_found', `No package ${name} is in revision ${revision}${hint}`)
}

/** The paths of the packages to explain; none for a decision about a path. */
function wantedPackages(
  { kind, outcome }: ExplainableDecision,
  { rego }: KeptSources,
  staticPackages: readonly string[],
  { findings: { names }, only }: { readonly findings: RecordedFindings; readonly only: string | undefined },
): readonly (readonly string[])[] {
  if (only !== undefined) return [pathOfName(only)]
  if (outcome === 'deny' && names.length > 0) return names.map(pathOfName)
  if (kind !== 'static') return []
  const all = rego.flatMap(({ text }) => {
    const path = packagePath(text)
    return path === undefined ? [] : [path]
  })
  const isStatic = packageMatcher(staticPackages)
  return all.filter((path) => isStatic(pathKey(path)))
}

function pathOfName(name: string): readonly string[] {
  return packagePath(`package ${name}`) ?? [name]
}

/** The keys of packages at or below some paths. */
function packageKeys({ packages }: Snapshot, wanted: readonly (readonly string[])[]): readonly string[] {
  const names = new Set(wanted.map(printPackageName))
  return packages.filter((key) => names.has(printPackageName(pathOfKey(key))))
}

function warningNotes(questions: readonly Question[]): ExplanationNote[] {
  const names = questions.flatMap((question) =>
    question.kind === 'advice' ? question.packages.map((key) => printPackageName(pathOfKey(key))) : [],
  )
  if (names.length === 0) return []
  return [
    {
      code: 'level_warn',
      message: `The denials of packages at the level warn are warnings: ${names.join(', ')}.`,
    },
  ]
}

/** At most this many redacted members are named. */
const MAX_NAMED = 10

function notesOf(
  { input }: ExplainableDecision,
  { withoutRego }: KeptSources,
  { snapshot }: TracedPolicies,
  { reproduced, isPart }: { readonly reproduced: boolean | undefined; readonly isPart: boolean },
): ExplanationNote[] {
  const notes: ExplanationNote[] = []
  const redacted = input === null ? [] : redactedMembers(JSON.parse(Buffer.from(input).toString()), '')
  if (redacted.length > 0) {
    const rest = redacted.length > MAX_NAMED ? ` and ${redacted.length - MAX_NAMED} more` : ''
    const names = `${redacted.slice(0, MAX_NAMED).join(', ')}${rest}`
    notes.push({
      code: 'redacted_input',
      message: `The stored input is redacted or masked at ${names}. Rules that read these members may have had other values.`,
    })
  }
  const modules = new Set([...snapshot.entrypoints.values()].flat().map(({ module }) => module))
  if ([...modules].some(({ requiredBuiltins }) => requiredBuiltins.includes('http.send'))) {
    notes.push({
      code: 'recorded_requests',
      message: 'The policies call http.send. Only recorded responses are used; nothing is sent.',
    })
  }
  if (withoutRego.length > 0) {
    notes.push({
      code: 'bundle_without_rego',
      message: `${withoutRego.join(', ')} contains no Rego, so its rules are not explained.`,
    })
  }
  if (reproduced === false) {
    notes.push({
      code: 'other_result',
      message:
        'The evaluation gave another result than the decision, so the explanation may not be that of the decision.',
    })
  }
  if (reproduced === undefined && !isPart) {
    notes.push({
      code: 'unknown_result',
      message: 'The recorded result is incomplete, so it is unknown whether this evaluation gave the same.',
    })
  }
  return notes
}

/** Returns the JSON pointers of members that were replaced before the input was stored. */
function redactedMembers(value: unknown, pointer: string): string[] {
  if (typeof value === 'string')
    return value.includes(REDACTION_MARK) || value === MASK_MARK
      ? [pointer === '' ? 'the whole input' : pointer]
      : []
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, member]) =>
    redactedMembers(member, `${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`),
  )
}
