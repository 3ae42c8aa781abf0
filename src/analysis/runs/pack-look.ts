import { gunzipSync, gzipSync } from 'node:zlib'
import type { LineData, LookData, TargetData } from './look-data.js'

/** The lines of both sides of a target; null where there is no log, or no baseline of it. */
type TargetLines = {
  readonly baseline: readonly LineData[] | null
  readonly canary: readonly LineData[]
} | null

/** A look as it is stored: gzip over JSON, the lines of logs by themselves. */
export interface PackedLook {
  readonly data: Uint8Array
  readonly lines: Uint8Array
}

export function packLook(look: LookData): PackedLook {
  const lines: TargetLines[] = look.targets.map(({ logs }) =>
    logs === undefined ? null : { baseline: logs.baseline?.lines ?? null, canary: logs.canary.lines },
  )
  const targets = look.targets.map((target) => withLines(target, null))
  return { data: pack({ ...look, targets }), lines: pack(lines) }
}

/** The look without its lines. */
export function unpackData(data: Uint8Array): LookData {
  return JSON.parse(gunzipSync(data).toString()) as LookData
}

/** Puts the lines back into a look. */
export function joinLines(look: LookData, lines: readonly TargetLines[]): LookData {
  return { ...look, targets: look.targets.map((target, index) => withLines(target, lines[index] ?? null)) }
}

function withLines({ metrics, logs }: TargetData, lines: TargetLines): TargetData {
  if (logs === undefined) return { metrics, logs }
  const { baseline, canary } = logs
  return {
    metrics,
    logs: {
      baseline: baseline && { ...baseline, lines: lines?.baseline ?? [] },
      canary: { ...canary, lines: lines?.canary ?? [] },
    },
  }
}

function pack(value: unknown): Uint8Array {
  return gzipSync(JSON.stringify(value))
}
