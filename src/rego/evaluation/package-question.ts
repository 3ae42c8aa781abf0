import { ALLOW_RULE, DENY_RULES } from '../values/verdict-rules.js'
import { entrypointsAt, ruleAbove } from './find-entrypoints.js'
import { printPackageName } from '../values/print-data-ref.js'
import { pathOfKey } from '../values/path-key.js'
import type { Entrypoint, Snapshot } from '../snapshot/snapshot.js'

/** A value to evaluate for a package's verdict. */
export interface QuestionPart {
  /** The verdict rule of the value; undefined for the package's document. */
  readonly rule: string | undefined
  readonly entrypoint: Entrypoint
  /** The steps from the entrypoint's value to the package or rule. */
  readonly rest: readonly string[]
}

/** The evaluation of a package's verdict. */
export interface PackageQuestion {
  readonly key: string
  /** In Rego syntax, without `data`. */
  readonly name: string
  readonly parts: readonly QuestionPart[]
  /** True if the package's rules are known. Bundles of other programs do not list them. */
  readonly isKnown: boolean
  readonly hasAllow: boolean
  /** True if only its deny rules can state something. */
  readonly isDenyAlone: boolean
  /** Denials of base documents next to the rules. */
  readonly baseDenials: readonly string[]
}

const questions = new WeakMap<Snapshot, Map<string, PackageQuestion>>()

/** Returns the evaluation of a package, cached; without parts if it has no verdict rules. */
export function questionOf(snapshot: Snapshot, key: string): PackageQuestion {
  const known = questions.get(snapshot) ?? new Map<string, PackageQuestion>()
  questions.set(snapshot, known)
  const question = known.get(key) ?? makeQuestion(snapshot, key)
  known.set(key, question)
  return question
}

function makeQuestion(snapshot: Snapshot, key: string): PackageQuestion {
  const path = pathOfKey(key)
  const rulesOf = (rule: string): QuestionPart[] =>
    entrypointsAt(snapshot, [...path, rule]).map((entrypoint) => ({ rule, entrypoint, rest: [] }))
  const deny = DENY_RULES.flatMap(rulesOf)
  const allow = rulesOf(ALLOW_RULE)
  const named = {
    key,
    name: printPackageName(path),
    hasAllow: allow.length > 0,
    isDenyAlone: false,
    baseDenials: snapshot.baseDenials.get(key) ?? [],
  }
  const documents = entrypointsAt(snapshot, path).map((entrypoint) => whole(entrypoint, []))
  const above = documents.length === 0 ? ruleAbove(snapshot, path) : undefined
  const walked = above === undefined ? [] : [whole(above, path.slice(above.path.length))]
  const opaque = [...documents.filter(({ entrypoint }) => entrypoint.kind === 'rule'), ...walked]
  if (deny.length === 0 && allow.length === 0) return { ...named, parts: opaque, isKnown: false }
  // Without deny rules the whole document is evaluated if possible, which shows if any rule has a
  // value.
  const isDocumentEnough = deny.length === 0 && documents.length > 0
  const isDenyAlone = allow.length === 0 && opaque.length === 0 && named.baseDenials.length === 0
  return {
    ...named,
    parts: isDocumentEnough ? documents : [...deny, ...allow, ...opaque],
    isKnown: true,
    isDenyAlone,
  }
}

function whole(entrypoint: Entrypoint, rest: readonly string[]): QuestionPart {
  return { rule: undefined, entrypoint, rest }
}
