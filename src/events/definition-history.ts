import { create } from 'jsondiffpatch'
import type { Delta } from 'jsondiffpatch'
import { isRecord } from '../lib/record.js'
import type { RegistryVersion } from '../store/registry-store.js'
import { toVersionView } from './describe-entry.js'

/** Stages are the same where their refId is: a stage that moved is not one removed and one added. */
const differ = create({
  objectHash: (item: object, index?: number) => identityOf(item) ?? `at ${index ?? 0}`,
  arrays: { detectMove: true },
  cloneDiffValues: false,
})
const IDENTITIES = ['refId', 'id', 'name'] as const

/** Versions, newest first, each with what made it differ from the one before (the delta format of jsondiffpatch). */
export function definitionHistory(versions: readonly RegistryVersion[]): Record<string, unknown>[] {
  return versions.map((version, index) => ({
    ...toVersionView(version),
    difference: difference(versions[index + 1], version),
  }))
}

function difference(before: RegistryVersion | undefined, after: RegistryVersion): Delta {
  if (before?.definition === undefined || after.definition === undefined) return undefined
  return differ.diff(JSON.parse(before.definition), JSON.parse(after.definition))
}

function identityOf(item: object): string | undefined {
  if (!isRecord(item)) return undefined
  const name = IDENTITIES.find((candidate) => typeof item[candidate] === 'string')
  return name === undefined ? undefined : `${name} ${String(item[name])}`
}
