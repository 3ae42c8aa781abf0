import type { GeneratedPackage } from './policy-paths.js'

type Members = Readonly<Record<string, unknown>>

const VERDICT_RULES = ['deny', 'violation', 'allow']

/**
 * The verdict of OPA's document at a path by the table in docs/reference/verdicts.md, derived from the JSON
 * alone. `none` if it states no verdict or is undefined.
 */
export function statedVerdict(
  document: unknown,
  path: readonly string[],
  packages: readonly GeneratedPackage[],
): 'allow' | 'deny' | 'none' {
  const below = packages.filter((one) => path.every((segment, index) => one.path[index] === segment))
  if (below.length > 0) return packagesVerdict(document, path, below)
  const owner = packages
    .filter((one) => one.path.every((segment, index) => path[index] === segment))
    .reduce((length, one) => Math.max(length, one.path.length), 0)
  const steps = path.slice(owner)
  if (steps.slice(0, -1).some((step) => VERDICT_RULES.includes(step))) return 'none'
  return ruleVerdict(document, steps.at(-1) ?? '')
}

function packagesVerdict(
  document: unknown,
  path: readonly string[],
  below: readonly GeneratedPackage[],
): 'allow' | 'deny' | 'none' {
  const verdicts = below.flatMap((one) => {
    if (!one.rules.some((rule) => /^(?:default )?(?:deny|violation|allow)\b/.test(rule))) return []
    return [membersVerdict(membersOf(walk(document, one.path.slice(path.length))))]
  })
  if (verdicts.includes('deny')) return 'deny'
  return verdicts.length === 0 || verdicts.includes('none') ? 'none' : 'allow'
}

function ruleVerdict(value: unknown, name: string): 'allow' | 'deny' | 'none' {
  if (value === undefined) return 'none'
  if (name === 'deny' || name === 'violation') return denyVerdict(value)
  if (name === 'allow') return value === true ? 'allow' : 'deny'
  if (typeof value === 'boolean') return value ? 'allow' : 'deny'
  if (Array.isArray(value)) return value.length > 0 ? 'deny' : 'allow'
  return membersVerdict(membersOf(value))
}

function membersVerdict(members: Members): 'allow' | 'deny' | 'none' {
  const stated = [
    denyVerdict(members['deny']),
    denyVerdict(members['violation']),
    allowVerdict(members['allow']),
  ]
  if (stated.includes('deny')) return 'deny'
  return stated.includes('allow') ? 'allow' : 'none'
}

function allowVerdict(value: unknown): 'allow' | 'deny' | 'none' {
  if (value === undefined) return 'none'
  return value === true ? 'allow' : 'deny'
}

function denyVerdict(value: unknown): 'allow' | 'deny' | 'none' {
  if (value === undefined || value === null) return 'none'
  if (value === false) return 'allow'
  if (typeof value !== 'object') return 'deny'
  const isDenied = Array.isArray(value)
    ? value.length > 0
    : Object.values(value).some((reason) => reason !== false)
  return isDenied ? 'deny' : 'allow'
}

function walk(document: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, segment) => membersOf(value)[segment], document)
}

function membersOf(value: unknown): Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {}
}
