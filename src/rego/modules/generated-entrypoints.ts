import { pathOfKey } from '../values/path-key.js'

/** Package of generated rules, for paths that cannot be entrypoints themselves. */
const GENERATED_PACKAGE = 'tidegate_entrypoints'
export const GENERATED_FILE = 'entrypoints.rego'
/**
 * The entrypoint that refers to every package, so that all rules are compiled and can be called.
 */
export const KEEPING_ENTRYPOINT = `${GENERATED_PACKAGE}/all`

/**
 * References in one generated rule. One rule for each reference takes a sixth of OPA's time, and
 * one rule for all would be a very long function.
 */
const KEPT_BY_RULE = 20

/** True for a generated rule, which has no path of its own. */
export function isGenerated(entrypoint: string): boolean {
  return entrypoint.startsWith(`${GENERATED_PACKAGE}/`)
}

export interface GeneratedRules {
  readonly text: string
  /** The keys of paths by the names of entrypoints. */
  readonly paths: ReadonlyMap<string, string>
}

/**
 * Returns a rule that refers to each forwarded key, and one that refers to all kept keys. The root
 * cannot be referred to from inside `data`, so it gets no rule.
 */
export function generateRules(forwarded: readonly string[], kept: readonly string[]): GeneratedRules {
  const targets = forwarded.filter((key) => key !== '')
  const names = targets.map((key, index) => ruleName(index, key))
  const rules = targets.map((key, index) => `${names[index]} = ${reference(key)} { true }`)
  const keeping: string[] = []
  for (let from = 0; from < kept.length; from += KEPT_BY_RULE) {
    const references = kept.slice(from, from + KEPT_BY_RULE).map(reference)
    keeping.push(`k${from} { ${references.join('; ')} }`)
  }
  if (kept.length > 0)
    keeping.push(`all { ${keeping.map((_, index) => `k${index * KEPT_BY_RULE}`).join('; ')} }`)
  return {
    text: [`package ${GENERATED_PACKAGE}`, ...rules, ...keeping, ''].join('\n'),
    paths: new Map(targets.map((key, index) => [`${GENERATED_PACKAGE}/${names[index]}`, key])),
  }
}

/**
 * Returns a rule name at least as long as the path, so that the path can replace it in the module.
 */
function ruleName(index: number, key: string): string {
  const least = Buffer.byteLength(pathOfKey(key).join('/')) - GENERATED_PACKAGE.length - 1
  return `p${index}`.padEnd(least, '_')
}

function reference(key: string): string {
  return ['data', ...pathOfKey(key).map((segment) => `[${JSON.stringify(segment)}]`)].join('')
}
