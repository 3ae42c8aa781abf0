import { createHash } from 'node:crypto'

import type { Snapshot } from '../snapshot/snapshot.js'
import { findApplication } from './find-application.js'

/** A snapshot that answers a share of requests before it serves. */
export interface Staged {
  readonly snapshot: Snapshot
  /** 1 to 99. */
  readonly sharePercent: number
}

/** The snapshots that answer requests. */
export interface ServedSnapshots {
  readonly current: Snapshot
  readonly staged?: Staged | undefined
}

const PERCENT = 100

/**
 * Returns the snapshot that answers an input. During a stage it depends on the application, or on
 * the whole input if none is named, so that the answers for one pipeline come from one revision.
 */
export function chooseSnapshot(
  { current, staged }: ServedSnapshots,
  input: Uint8Array | undefined,
): Snapshot {
  if (staged === undefined || input === undefined) return current
  const { snapshot, sharePercent } = staged
  // Each revision begins with other applications.
  const hash = createHash('sha256').update(`${snapshot.revision}\n`)
  const digest = hash.update(findApplication(input) ?? input).digest()
  return digest.readUInt32BE() % PERCENT < sharePercent ? snapshot : current
}
