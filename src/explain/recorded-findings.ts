import { REDACTION_MARK } from '../lib/redaction/redacted.js'
import { textsOf, type Answer, type Question } from '../rego/index.js'
import type { StoredDecision } from '../store/ports/decision-store.js'
import type { TracedResult } from './traced-runs.js'

/** The parts of a decision that an explanation needs. */
export type ExplainableDecision = Pick<
  StoredDecision,
  | ('decisionId' | 'revision' | 'outcome' | 'timeMs' | 'kind' | 'path' | 'packages')
  | ('input' | 'inputBytes' | 'inputTruncated' | 'result' | 'resultTruncated' | 'ndBuiltinCache')
>

/** The packages of a decision as recorded, without those and the reasons that were left out. */
interface RecordedPackage {
  readonly package?: string
  readonly deny?: readonly string[]
  readonly denyLeftOut?: number
  readonly warnings?: readonly { readonly message: string; readonly kind: string }[]
  readonly warningsLeftOut?: number
  readonly packagesLeftOut?: number
}

/** The packages of a decision as it recorded them. */
export interface RecordedFindings {
  /** Packages with a denial or a warning. */
  readonly names: readonly string[]
  /** Packages that denied, also if an exception excused it. */
  readonly denying: ReadonlySet<string>
  /** Packages whose denials were warnings by their level. */
  readonly warning: ReadonlySet<string>
  /** The texts of all warnings, without those about errors. */
  readonly warnings: readonly string[]
  /** True if some were left out or redacted. */
  readonly isIncomplete: boolean
}

/** Reads the packages of a stored decision, as JSON. */
export function recordedFindings(packages: Uint8Array | null): RecordedFindings {
  const text = packages === null ? '[]' : Buffer.from(packages).toString()
  const all = JSON.parse(text) as readonly RecordedPackage[]
  const namesOf = (matches: (found: RecordedPackage) => boolean): string[] =>
    all.flatMap((found) => (found.package !== undefined && matches(found) ? found.package : []))
  const hasWarning = ({ warnings = [] }: RecordedPackage, of: string): boolean =>
    warnings.some(({ kind }) => kind === of)
  return {
    names: namesOf(() => true),
    denying: new Set(
      namesOf(
        (found) => (found.deny?.length ?? 0) + (found.denyLeftOut ?? 0) > 0 || hasWarning(found, 'exception'),
      ),
    ),
    warning: new Set(namesOf((found) => hasWarning(found, 'level'))),
    warnings: all.flatMap(({ warnings = [] }) =>
      warnings.flatMap(({ kind, message }) => (kind === 'error' ? [] : message)),
    ),
    isIncomplete:
      text.includes(REDACTION_MARK) ||
      all.some(
        ({ denyLeftOut = 0, warningsLeftOut = 0, packagesLeftOut = 0 }) =>
          denyLeftOut + warningsLeftOut + packagesLeftOut > 0,
      ),
  }
}

/** Undefined if the recorded result is incomplete, or only some packages were evaluated. */
export function isReproduced(
  { kind, outcome, packages, result, resultTruncated }: ExplainableDecision,
  { warnings, isIncomplete }: RecordedFindings,
  questions: readonly Question[],
  results: readonly TracedResult[],
): boolean | undefined {
  const error = results.find((evaluated) => evaluated.error !== undefined)?.error
  if (error !== undefined || outcome === 'error') return (error !== undefined) === (outcome === 'error')
  const isUndefined = results.every(({ answer }) => answer === undefined)
  if (resultTruncated || result === null) return result === null && isUndefined ? true : undefined
  const recorded = Buffer.from(result).toString()
  if (kind === 'data' || kind === 'default') return results[0]?.answer === recorded
  const isPart = questions.some((asked) => asked.kind === 'static') && outcome === 'deny' && packages === null
  if (isPart || isIncomplete || recorded.includes(REDACTION_MARK)) return undefined
  const texts = new Set([...(JSON.parse(recorded) as string[]), ...warnings])
  const again = new Set(results.flatMap(({ answer }) => textsOfAnswer(answer)))
  return again.size === texts.size && [...again].every((text) => texts.has(text))
}

/** The texts of denials and warnings, without warnings about errors. */
function textsOfAnswer(answer: Answer): readonly string[] {
  if (typeof answer !== 'object') return []
  return textsOf(answer.filter((found) => !('kind' in found && found.kind === 'error')))
}
