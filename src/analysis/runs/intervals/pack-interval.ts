import { constants, deflateRawSync, gunzipSync, gzipSync } from 'node:zlib'
import { crc32 } from '../../../lib/bytes.js'
import type { LineData, IntervalData, TargetData } from './interval-data.js'

/** The lines of both sides of a target; null where there is no log, or no baseline of it. */
type TargetLines = {
  readonly baseline: readonly LineData[] | null
  readonly canary: readonly LineData[]
} | null

/** Of the text that is compressed at once, in UTF-16 units: long enough that compression loses nothing. */
const BLOCK_LENGTH = 1024 * 1024
/** Deflated, without a name or a time, of no particular system. */
const GZIP_HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255])

/** An interval as it is stored: gzip over JSON, the lines of logs by themselves. */
export interface PackedInterval {
  readonly data: Uint8Array
  readonly lines: Uint8Array
}

export function packInterval(interval: IntervalData): PackedInterval {
  const lines: TargetLines[] = interval.targets.map(({ logs }) =>
    logs === undefined ? null : { baseline: logs.baseline?.lines ?? null, canary: logs.canary.lines },
  )
  const targets = interval.targets.map((target) => withLines(target, null))
  return { data: gzipSync(JSON.stringify({ ...interval, targets })), lines: packPieces(piecesOf(lines)) }
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

/** The JSON of lines, in pieces. */
function* piecesOf(targets: readonly TargetLines[]): Iterable<string> {
  yield '['
  for (const [index, lines] of targets.entries()) {
    if (index > 0) yield ','
    if (lines === null) {
      yield 'null'
      continue
    }
    yield '{"baseline":'
    yield* piecesOfSide(lines.baseline)
    yield ',"canary":'
    yield* piecesOfSide(lines.canary)
    yield '}'
  }
  yield ']'
}

function* piecesOfSide(lines: readonly LineData[] | null): Iterable<string> {
  if (lines === null) {
    yield 'null'
    return
  }
  yield '['
  for (const [index, line] of lines.entries()) yield `${index > 0 ? ',' : ''}${JSON.stringify(line)}`
  yield ']'
}

/** One gzip file (RFC 1952), compressed piece after piece: the whole text would take three times what the lines do. */
function packPieces(pieces: Iterable<string>): Uint8Array {
  const parts: Uint8Array[] = [GZIP_HEADER]
  let checksum = 0
  let bytes = 0
  let text = ''
  const pack = (): void => {
    const block = Buffer.from(text)
    text = ''
    checksum = crc32(block, checksum)
    bytes += block.length
    // Not as members of a file: readers such as curl stop after the first.
    parts.push(deflateRawSync(block, { finishFlush: constants.Z_SYNC_FLUSH }))
  }
  for (const piece of pieces) {
    text += piece
    if (text.length >= BLOCK_LENGTH) pack()
  }
  pack()
  const trailer = Buffer.alloc(8)
  trailer.writeUInt32LE(checksum, 0)
  trailer.writeUInt32LE(bytes % 2 ** 32, 4)
  return Buffer.concat([...parts, deflateRawSync(''), trailer])
}
