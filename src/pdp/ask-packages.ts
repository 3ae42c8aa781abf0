import { ALLOW_RULE, DENY_RULES, denialTexts, documentDenials } from './denials.js'
import { evaluateEntrypoints } from './evaluate-entrypoints.js'
import type { RegoValue } from './rego/value.js'
import type { Entrypoint, Snapshot } from './snapshot.js'
import type { EvaluationCall } from './wasm/policy-instance.js'

/** One reason against, and the package (path joined with `/`) that gives it. */
export interface Denial {
  readonly packagePath: string
  readonly text: string
}

/** What packages say together: allowed when there are no denials. */
export interface Verdict {
  /** Each text once, in the order of the packages, and in Rego order within one. */
  readonly denials: readonly Denial[]
  /** The packages that state a verdict. */
  readonly evaluated: readonly string[]
}

interface Question {
  readonly packagePath: string
  readonly entrypoint: Entrypoint
  readonly toTexts: (value: RegoValue | undefined) => string[]
}

export interface AskOptions {
  /** Whether an `allow` package whose rules are all undefined for this input denies it. */
  readonly undefinedDenies: boolean
}

/**
 * Asks each package for its reasons against the input: its `deny` and `violation` rules, or where it has none, whether
 * its `allow` is true. A package without any of these states no verdict and is passed over. Raises `evaluation_failed`
 * when one of them cannot be evaluated: an error is never an allow.
 */
export function askPackages(
  snapshot: Snapshot,
  packages: readonly string[],
  input: Uint8Array | undefined,
  call: EvaluationCall,
  options: AskOptions,
): Verdict {
  const questions = packages.flatMap((packagePath) => questionsOf(snapshot, packagePath, options))
  const entrypoints = questions.map(({ entrypoint }) => entrypoint)
  const values = evaluateEntrypoints(snapshot, entrypoints, input, call)
  const denials = questions.flatMap(({ packagePath, toTexts }, index) =>
    toTexts(values[index]).map((text) => ({ packagePath, text })),
  )
  return {
    denials: withoutRepeats(denials),
    evaluated: [...new Set(questions.map(({ packagePath }) => packagePath))],
  }
}

function questionsOf(snapshot: Snapshot, packagePath: string, options: AskOptions): Question[] {
  const name = packagePath.replaceAll('/', '.')
  const deny = DENY_RULES.flatMap((rule) =>
    (snapshot.entrypoints.get(`${packagePath}/${rule}`) ?? []).map((entrypoint) => ({
      packagePath,
      entrypoint,
      toTexts: (value: RegoValue | undefined) => denialTexts(value, `${name}.${rule}`),
    })),
  )
  if (deny.length > 0) return deny
  const documents = snapshot.entrypoints.get(packagePath) ?? []
  // A bundle made elsewhere may have packages for entrypoints only: then the document tells what it holds.
  const isOpaque = documents.some(({ kind }) => kind === 'rule')
  if (!isOpaque && !snapshot.entrypoints.has(`${packagePath}/${ALLOW_RULE}`)) return []
  return documents.map((entrypoint) => ({
    packagePath,
    entrypoint,
    toTexts: (value) => documentDenials(value, name, options),
  }))
}

function withoutRepeats(denials: readonly Denial[]): Denial[] {
  const seen = new Set<string>()
  return denials.filter(({ text }) => !seen.has(text) && seen.add(text))
}
