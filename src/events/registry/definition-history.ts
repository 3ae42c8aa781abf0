import { create } from 'jsondiffpatch'
import type { Delta } from 'jsondiffpatch'
import { isRecord } from '../../lib/validation/record.js'
import type { RegistryVersion } from '../../store/ports/registry-store.js'
import { toVersionView } from './describe-entry.js'

/** Identifies stages by refId, so that a moved stage is not one removed and one added. */
const differ = create({
  objectHash: (item: object, index?: number) => identityOf(item) ?? `at ${index ?? 0}`,
  arrays: { detectMove: true },
  cloneDiffValues: false,
})
const IDENTITIES = ['refId', 'id', 'name'] as const

/**
 * Highest length of two compared definitions together. A pipeline of a thousand stages has half of
 * it.
 */
const MAX_COMPARED = 2 * 1024 * 1024
/** Highest product of the lengths of two compared arrays: a thousand stages with a thousand. */
const MAX_STEPS = 1_000_000
/** Highest length of all differences in a response. */
const MAX_SHOWN = 8 * 1024 * 1024
const LEFT_OUT = { differenceLeftOut: 'the definitions are too large to be compared here' }

/**
 * Returns versions, newest first, each with its difference from the one before (delta format of
 * jsondiffpatch), as a JSON array of at most `limit`. Definitions that are too large are marked.
 */
export function definitionHistory(versions: readonly RegistryVersion[], limit: number): string {
  let shown = 0
  const views = versions.slice(0, limit).map((version, index) => {
    const compared = shown > MAX_SHOWN ? LEFT_OUT : compare(versions[index + 1], version)
    const view = JSON.stringify({ ...toVersionView(version), ...compared })
    shown += view.length
    return view
  })
  return `[${views.join(',')}]`
}

function compare(before: RegistryVersion | undefined, after: RegistryVersion): object {
  if (before?.definition === undefined || after.definition === undefined) return {}
  if (before.definition.length + after.definition.length > MAX_COMPARED) return LEFT_OUT
  const older: unknown = JSON.parse(before.definition)
  const newer: unknown = JSON.parse(after.definition)
  if (stepsWithin(older) > MAX_STEPS || stepsWithin(newer) > MAX_STEPS) return LEFT_OUT
  const difference: Delta = differ.diff(older, newer)
  return { difference }
}

/**
 * Sum of the squared lengths of all arrays in a value. The larger sum of two values bounds the
 * comparison.
 */
function stepsWithin(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const own = Array.isArray(value) ? value.length ** 2 : 0
  return Object.values(value).reduce((steps: number, part) => steps + stepsWithin(part), own)
}

function identityOf(item: object): string | undefined {
  if (!isRecord(item)) return undefined
  const name = IDENTITIES.find((candidate) => typeof item[candidate] === 'string')
  return name === undefined ? undefined : `${name} ${String(item[name])}`
}
