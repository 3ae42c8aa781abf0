import { gunzipSync, gzipSync } from 'node:zlib'

import { gzipOfBlocks } from '../../../lib/packing/deflated-block.js'
import type { DeflatedBlock } from '../../../lib/packing/deflated-block.js'
import { packedList } from '../../../lib/packing/packed-list.js'
import type { Sequence } from '../../../lib/packing/packed-list.js'
import type { LineData } from '../../sources.js'
import type { IntervalData, TargetData } from './interval-data.js'

/** The lines of both sides of a target. Null without a log or a baseline. */
type TargetLines = {
  readonly baseline: Sequence<LineData> | null
  readonly canary: Sequence<LineData>
} | null

/** A stored interval: gzip over JSON, with the lines of logs separate. */
export interface PackedInterval {
  readonly data: Uint8Array
  readonly lines: Uint8Array
}

export function packInterval(interval: IntervalData): PackedInterval {
  const lines: TargetLines[] = interval.targets.map(({ logs }) =>
    logs === undefined ? null : { baseline: logs.baseline?.lines ?? null, canary: logs.canary.lines },
  )
  const targets = interval.targets.map((target) => withLines(target, null))
  return { data: gzipSync(JSON.stringify({ ...interval, targets })), lines: gzipOfBlocks(piecesOf(lines)) }
}

/** The interval without its lines. */
export function unpackData(data: Uint8Array): IntervalData {
  return JSON.parse(gunzipSync(data).toString()) as IntervalData
}

/** Puts the lines back into an interval. */
export function joinLines(interval: IntervalData, lines: readonly TargetLines[]): IntervalData {
  return {
    ...interval,
    targets: interval.targets.map((target, index) => withLines(target, lines[index] ?? null)),
  }
}

function withLines(target: TargetData, lines: TargetLines): TargetData {
  if (target.logs === undefined) return target
  const { baseline, canary } = target.logs
  return {
    ...target,
    logs: {
      baseline: baseline && { ...baseline, lines: lines?.baseline ?? [] },
      canary: { ...canary, lines: lines?.canary ?? [] },
    },
  }
}

/** The JSON of lines. Compressed parts are copied. */
function* piecesOf(targets: readonly TargetLines[]): Iterable<DeflatedBlock | string> {
  yield '['
  for (const [index, lines] of targets.entries()) {
    const comma = index > 0 ? ',' : ''
    if (lines === null) {
      yield `${comma}null`
      continue
    }
    yield `${comma}{"baseline":`
    yield* piecesOfSide(lines.baseline)
    yield ',"canary":'
    yield* piecesOfSide(lines.canary)
    yield '}'
  }
  yield ']'
}

function* piecesOfSide(lines: Sequence<LineData> | null): Iterable<DeflatedBlock | string> {
  if (lines === null) {
    yield 'null'
    return
  }
  yield '['
  yield* packedList(lines).blocks()
  yield ']'
}
