import { asBuffer } from '../../lib/bytes.js'
import { OPEN_OBJECT } from '../../lib/json/scan/json-bytes.js'
import type { Extent } from '../../lib/json/scan/json-bytes.js'
import { readMembers } from '../../lib/json/scan/scan-members.js'
import { isRecord } from '../../lib/validation/record.js'
import type { Denial } from './denial.js'

/** Members of an input with a pipeline or an execution. The input itself may have stages, too. */
const HOLDERS = ['new', 'pipeline', 'execution'] as const
/** Limit on stages. Larger lists are not read to sort texts. */
const MAX_STAGES_BYTES = 1024 * 1024
/** Limit on characters of texts times stages. */
const MAX_COMPARED = 5_000_000
const WORD = /[\p{L}\p{N}_-]/u

/**
 * Sorts denials by the first stage that their text names. Rego sorts sets by text, but users read
 * them in the order of the pipeline. Denials without a stage come first; the sort is stable.
 */
export function inStageOrder<T extends Denial>(
  denials: readonly T[],
  input: Uint8Array | undefined,
): readonly T[] {
  if (denials.length < 2 || input === undefined) return denials
  const names = stageNames(input)
  const characters = denials.reduce((sum, { text }) => sum + text.length, 0)
  if (names.length < 2 || characters * names.length > MAX_COMPARED) return denials
  const placed = denials.map((denial) => ({ denial, place: firstStageIn(denial.text, names) }))
  return placed.sort((one, other) => one.place - other.place).map(({ denial }) => denial)
}

/**
 * Returns the name of each stage in denials: its own, or that of the example policies. Empty if the
 * input has no readable stages.
 */
function stageNames(input: Uint8Array): readonly string[] {
  const list = readStages(input)
  if (!Array.isArray(list)) return []
  return list.map((stage: unknown, index) => {
    if (!isRecord(stage)) return `stage ${index + 1} of the list`
    const { name, refId } = stage
    return typeof name === 'string' && name.trim() !== '' ? name : `stage ${String(refId)}`
  })
}

function readStages(input: Uint8Array): unknown {
  try {
    const stages = findStages(input)
    if (stages === undefined || stages.end - stages.start > MAX_STAGES_BYTES) return undefined
    return JSON.parse(asBuffer(input).toString('utf8', stages.start, stages.end))
  } catch {
    // The denial counts whatever its order.
    return undefined
  }
}

function findStages(input: Uint8Array): Extent | undefined {
  const members = readMembers(input)
  const own = members?.get('stages')
  if (own !== undefined) return own
  for (const holder of HOLDERS) {
    const at = members?.get(holder)?.start
    const found =
      at !== undefined && input[at] === OPEN_OBJECT ? readMembers(input, at)?.get('stages') : undefined
    if (found !== undefined) return found
  }
  return undefined
}

/**
 * Returns the index of the stage that a text names first, the longer of two at one position; -1
 * without any.
 */
function firstStageIn(text: string, names: readonly string[]): number {
  let found = { place: -1, at: Infinity, length: 0 }
  for (const [place, name] of names.entries()) {
    const at = wordAt(text, name)
    if (at === undefined || at > found.at) continue
    if (at < found.at || name.length > found.length) found = { place, at, length: name.length }
  }
  return found.place
}

/** Returns the position of a name in a text, if it is not part of a longer word. */
function wordAt(text: string, name: string): number | undefined {
  for (let at = text.indexOf(name); at !== -1; at = text.indexOf(name, at + 1)) {
    const [before = '', after = ''] = [text[at - 1], text[at + name.length]]
    if (!WORD.test(before) && !WORD.test(after)) return at
  }
  return undefined
}
