import { BinaryReader, encodeUnsigned } from '../binary/binary-reader.js'
import { readFunctionTable } from '../binary/function-table.js'
import { skipImmediates } from '../binary/instructions.js'
import { OP } from '../binary/opcodes.js'
import {
  HEADER_BYTES,
  SECTION,
  concat,
  openSection,
  readSections,
  writeBody,
  writeSection,
} from '../binary/sections.js'
import { findLifetimes } from './local-lifetimes.js'
import type { Lifetimes } from './local-lifetimes.js'

const I32 = 0x7f
/** Fewer do not matter. */
const MANY_LOCALS = 1000
/** What an index may have in bytes at the most (32 bits as LEB128). */
const MOST_INDEX_BYTES = 5

/**
 * Has local variables of a function that are never in use at the same time share a place, where there are very many: OPA's compiler
 * takes a new one for each value. V8 takes no more than 50,000, and compiling a function takes it time and memory by the product of
 * their number and the function's branches: 20 s where OPA needs half a second.
 */
export function mergeLocals(wasm: Uint8Array, least = MANY_LOCALS): Uint8Array {
  const sections = readSections(wasm)
  const bodies = readBodies(openSection(wasm, sections, SECTION.code))
  if (!bodies.some((body) => countLocals(body) >= least)) return wasm
  const { types, parameterCounts } = readFunctionTable(wasm, sections)
  const code: Uint8Array[] = [Buffer.from(encodeUnsigned(bodies.length))]
  for (const [place, body] of bodies.entries()) {
    const parameters = parameterCounts[types[place] ?? -1] ?? 0
    const isMerged = countLocals(body) >= least
    writeBody(code, [isMerged ? mergeIn(body, parameters) : body.bytes.subarray(body.at, body.end)])
  }
  const out: Uint8Array[] = [wasm.subarray(0, HEADER_BYTES)]
  for (const { id, start, end } of sections)
    writeSection(out, id, id === SECTION.code ? code : [wasm.subarray(start, end)])
  return concat(out)
}

function readBodies(reader: BinaryReader): BinaryReader[] {
  return Array.from({ length: reader.unsigned() }, () => reader.slice(reader.unsigned()))
}

/** How many locals a body declares; 0 where they are not all addresses, as with OPA's compiler. */
function countLocals({ bytes, at, end }: BinaryReader): number {
  const reader = new BinaryReader(bytes, at, end)
  let count = 0
  for (let groups = reader.unsigned(); groups > 0; groups--) {
    count += reader.unsigned()
    if (reader.byte() !== I32) return 0
  }
  return count
}

function mergeIn(body: BinaryReader, parameters: number): Uint8Array {
  const locals = countLocals(body)
  const { bytes, at, end } = body
  const code = new BinaryReader(bytes, at, end)
  code.skipLocals()
  const start = code.at
  const lifetimes = findLifetimes(code, parameters, locals)
  const { places, used } = shareOut(lifetimes, parameters)
  return rewrite(new BinaryReader(bytes, start, end), places, used - parameters, lifetimes.uses)
}

/** The place of each local, parameters included, and how many there are. */
function shareOut(
  { first, last, isShareable, inOrder }: Lifetimes,
  parameters: number,
): { readonly places: Uint32Array; readonly used: number } {
  const places = new Uint32Array(first.length)
  for (let local = 0; local < parameters; local++) places[local] = local
  let used = parameters
  for (const local of inOrder) if (isShareable[local] !== 1) places[local] = used++
  const sharing = inOrder.filter((local) => isShareable[local] === 1)
  const ending = sharing.toSorted((a, b) => (last[a] ?? 0) - (last[b] ?? 0))
  const free: number[] = []
  let ended = 0
  for (const local of sharing) {
    for (let next = ending[ended]; next !== undefined; next = ending[ended]) {
      if ((last[next] ?? 0) >= (first[local] ?? 0)) break
      free.push(places[next] ?? 0)
      ended += 1
    }
    places[local] = free.pop() ?? used++
  }
  return { places, used }
}

function rewrite(code: BinaryReader, places: Uint32Array, locals: number, uses: number): Uint8Array {
  const head = locals === 0 ? [0] : [1, ...encodeUnsigned(locals), I32]
  const out = new Uint8Array(head.length + code.end - code.at + uses * MOST_INDEX_BYTES)
  out.set(head)
  let length = head.length
  let copied = code.at
  const copyTo = (end: number): void => {
    out.set(code.bytes.subarray(copied, end), length)
    length += end - copied
  }
  while (!code.done) {
    const opcode = code.byte()
    if (opcode < OP.getLocal || opcode > OP.teeLocal) {
      skipImmediates(opcode, code)
      continue
    }
    copyTo(code.at)
    for (const byte of encodeUnsigned(places[code.unsigned()] ?? 0)) out[length++] = byte
    copied = code.at
  }
  copyTo(code.end)
  return out.subarray(0, length)
}
