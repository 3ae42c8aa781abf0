import { asBuffer } from '../../lib/bytes.js'
import { decodeString } from '../../lib/json/scan/decode-string.js'
import { COLON, OPEN_OBJECT, QUOTE } from '../../lib/json/scan/json-bytes.js'
import { openedBetween } from '../../lib/json/scan/opened-between.js'
import { scanSpace } from '../../lib/json/scan/scan-value.js'
import { scanString } from '../../lib/json/scan/scan-string.js'

/** Literal of a member's name, and a part of it that is fast to search for. */
interface MemberName {
  readonly literal: Buffer
  readonly part: Buffer
  /** Position of the part in the literal. */
  readonly partAt: number
}

/** A found member: its depth, and the start of its value. */
interface FoundMember {
  readonly level: number
  readonly value: number
}

/** Node.js searches fastest for fewer than eight bytes. */
const MAX_PART_LENGTH = 7

const EXECUTION_ID = memberName('"executionId"', 'x')
const EXECUTION = memberName('"execution"', 'x')
const PIPELINE = memberName('"pipeline"', 'p')
const ID = memberName('"id"', 'd')
/**
 * Text that occurs only in executions: the types PIPELINE and ORCHESTRATION, `pipelineConfigId`,
 * and `trigger`, where a definition has `triggers`.
 */
const MARKS_OF_EXECUTION = ['PIPELIN', 'ORCHEST', 'ConfigI', 'gger"'].map((mark) => Buffer.from(mark))
/**
 * Searched bytes from either end of the input. Callers put the id at one end, and a longer search
 * is not worth its cost.
 */
const SEARCHED_BYTES = 64 * 1024
const MAX_LENGTH = 200

/**
 * Finds the execution of an input (JSON). In order of preference: `executionId` at the top or one
 * level below, `execution.id`, and `pipeline.id` if the pipeline is an execution, as the plain-OPA
 * plugin sends it (orchestrator-clients.md 1.6 and 1.7). Undefined without one; never raises.
 */
export function findExecutionId(input: Uint8Array): string | undefined {
  const bytes = asBuffer(input)
  try {
    const named = namesExecution(bytes) ? (ownExecutionId(bytes) ?? idInside(bytes, EXECUTION)) : undefined
    return named ?? idOfPipeline(bytes)
  } catch {
    // Malformed input, whose decision was an error.
    return undefined
  }
}

/**
 * Whether the common part of both names occurs. Most inputs lack it, and a search costs more than
 * this check.
 */
function namesExecution(bytes: Buffer): boolean {
  const { part } = EXECUTION
  if (bytes.length <= 2 * SEARCHED_BYTES) return bytes.includes(part)
  return searchedStart(bytes).includes(part) || bytes.includes(part, bytes.length - SEARCHED_BYTES)
}

/** The searched beginning, with a name that starts at its end. */
function searchedStart(bytes: Buffer): Buffer {
  const end = SEARCHED_BYTES + EXECUTION_ID.literal.length
  return bytes.length > end ? bytes.subarray(0, end) : bytes
}

/** Searches each half from the outside, where the depth is known. */
function ownExecutionId(bytes: Buffer): string | undefined {
  let below: string | undefined
  const halves = [
    membersFromStart(bytes, EXECUTION_ID, 0, bytes.length >> 1),
    membersFromEnd(bytes, EXECUTION_ID),
  ]
  for (const half of halves) {
    for (const { level, value } of half) {
      if (level > 2) continue
      const id = textAt(bytes, value)
      if (level === 1 && id !== undefined) return id
      below ??= id
    }
  }
  return below
}

function idOfPipeline(bytes: Buffer): string | undefined {
  const searched = searchedStart(bytes)
  if (!searched.includes(PIPELINE.part)) return undefined
  return MARKS_OF_EXECUTION.some((mark) => searched.includes(mark)) ? idInside(bytes, PIPELINE) : undefined
}

function idInside(bytes: Buffer, name: MemberName): string | undefined {
  for (const { level, value } of membersFromStart(bytes, name)) {
    if (level !== 1 || bytes[value] !== OPEN_OBJECT) continue
    for (const inner of membersFromStart(bytes, ID, value)) {
      if (inner.level < 1) return undefined
      if (inner.level === 1) return textAt(bytes, inner.value)
    }
  }
  return undefined
}

/** Members of a name from `start` on. Depths count from there; below 1, the container has ended. */
function* membersFromStart(
  bytes: Buffer,
  name: MemberName,
  start = 0,
  end = bytes.length,
): Generator<FoundMember> {
  let counted = start
  let level = 0
  for (const at of positions(bytes, name, start, Math.min(start + SEARCHED_BYTES, end))) {
    level += openedBetween(bytes, counted, at, 1 - level)
    counted = at
    yield { level, value: valueAfter(bytes, at, name) }
  }
}

/** Members of a name in the searched end of the input, from last to first. */
function* membersFromEnd(bytes: Buffer, name: MemberName): Generator<FoundMember> {
  let counted = bytes.length
  let level = 0
  const start = Math.max(bytes.length >> 1, bytes.length - SEARCHED_BYTES)
  for (const at of [...positions(bytes, name, start, bytes.length)].reverse()) {
    level -= openedBetween(bytes, at, counted)
    counted = at
    yield { level, value: valueAfter(bytes, at, name) }
  }
}

/** Positions of members with a name, excluding equal text elsewhere. */
function* positions(bytes: Buffer, name: MemberName, start: number, end: number): Generator<number> {
  const { literal, part, partAt } = name
  // The search ends at the last position, since a large input continues far beyond it.
  const searched = bytes.subarray(0, end + literal.length)
  let found = searched.indexOf(part, start + partAt)
  for (; found !== -1 && found - partAt < end; found = searched.indexOf(part, found + part.length)) {
    const at = found - partAt
    const isNamed = literal.compare(bytes, at, Math.min(at + literal.length, bytes.length)) === 0
    if (isNamed && valueAfter(bytes, at, name) !== -1) yield at
  }
}

/** Start of the value of the member at `at`; -1 if there is no member. */
function valueAfter(bytes: Buffer, at: number, { literal }: MemberName): number {
  const colon = scanSpace(bytes, at + literal.length)
  return bytes[colon] === COLON ? scanSpace(bytes, colon + 1) : -1
}

function textAt(bytes: Buffer, value: number): string | undefined {
  if (bytes[value] !== QUOTE) return undefined
  const text = Buffer.from(decodeString(bytes, value, scanString(bytes, value))).toString()
  return text === '' || text.length > MAX_LENGTH ? undefined : text
}

function memberName(literal: string, rareLetter: string): MemberName {
  const partAt = literal.indexOf(rareLetter)
  const part = Buffer.from(literal.slice(partAt, partAt + MAX_PART_LENGTH))
  return { literal: Buffer.from(literal), part, partAt }
}
