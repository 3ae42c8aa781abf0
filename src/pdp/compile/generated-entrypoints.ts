import { pathOfKey } from '../rego/path-key.js'

/** Rules that are compiled beside the policies' own, for entrypoints that these have no other form for. */
const GENERATED_PACKAGE = 'tidegate_entrypoints'
export const GENERATED_FILE = 'entrypoints.rego'
/** The entrypoint that refers to every package, so that all rules are compiled: each is then called by itself. */
export const KEEPING_ENTRYPOINT = `${GENERATED_PACKAGE}/all`

/** Whether an entrypoint is a generated rule, which answers no path of its own. */
export function isGenerated(entrypoint: string): boolean {
  return entrypoint.startsWith(`${GENERATED_PACKAGE}/`)
}

export interface GeneratedRules {
  readonly text: string
  /** The keys of the paths that entrypoints answer, by their names. */
  readonly paths: ReadonlyMap<string, string>
}

/**
 * A rule that refers to each of the forwarded keys, and one that leads to all of those that are kept, a rule each: one for all would be a
 * function without end. The root cannot be referred to
 * from inside; it is put together from what is below it.
 */
export function generateRules(forwarded: readonly string[], kept: readonly string[]): GeneratedRules {
  const targets = forwarded.filter((key) => key !== '')
  const names = targets.map((key, index) => ruleName(index, key))
  const rules = targets.map((key, index) => `${names[index]} = ${reference(key)} { true }`)
  const keeping = kept.map((key, index) => `k${index} = ${reference(key)} { true }`)
  if (kept.length > 0) keeping.push(`all = [${kept.map((_, index) => `k${index}`).join(', ')}] { true }`)
  return {
    text: [`package ${GENERATED_PACKAGE}`, ...rules, ...keeping, ''].join('\n'),
    paths: new Map(targets.map((key, index) => [`${GENERATED_PACKAGE}/${names[index]}`, key])),
  }
}

/** A name so long that the path fits into its place. */
function ruleName(index: number, key: string): string {
  const least = Buffer.byteLength(pathOfKey(key).join('/')) - GENERATED_PACKAGE.length - 1
  return `p${index}`.padEnd(least, '_')
}

function reference(key: string): string {
  return ['data', ...pathOfKey(key).map((segment) => `[${JSON.stringify(segment)}]`)].join('')
}
