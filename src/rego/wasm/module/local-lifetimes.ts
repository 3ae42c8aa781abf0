import type { BinaryReader } from '../binary/binary-reader.js'
import { skipImmediates } from '../binary/instructions.js'
import { OP } from '../binary/opcodes.js'

/** Where the locals of a function are in use, in instructions from its beginning; by their numbers, parameters first. */
export interface Lifetimes {
  readonly first: Int32Array
  readonly last: Int32Array
  /** 1 where a local is set each time before it is read, so that it may stand where another has been. */
  readonly isShareable: Uint8Array
  /** The locals that are used at all, by their first use; parameters are none. */
  readonly inOrder: readonly number[]
  /** How many instructions use a local. */
  readonly uses: number
}

/** What is known of an open block. */
interface Block {
  readonly opcode: number
  readonly start: number
  isOpen: boolean
  /** The local that all branches to its end have set right before; `NONE` where one has set none, or another. */
  set: number | undefined
  /** The locals that are in use until a loop ends, since its next round may read them. */
  readonly kept: number[]
}

const NONE = -1

/**
 * Finds where locals are in use. One that is first set, and used only until the end of the block in which that is, is set before each
 * use however the code branches: what is in a block behind an instruction of the block itself is only reached through that. So it is
 * with a block that sets a local on each way to its end, and reads it on none. A loop that begins behind the first use keeps a local
 * until its end. Any other local is taken to be in use throughout.
 */
export function findLifetimes(code: BinaryReader, parameters: number, locals: number): Lifetimes {
  const finder = new LifetimeFinder(parameters, locals)
  for (let at = 1; !code.done; at++) {
    const opcode = code.byte()
    if (opcode >= OP.getLocal && opcode <= OP.teeLocal) finder.use(code.unsigned(), opcode, at)
    else if (opcode === OP.branch || opcode === OP.branchIf) finder.branch(code.unsigned(), opcode)
    else {
      skipImmediates(opcode, code)
      finder.step(opcode, at)
    }
  }
  return finder.lifetimes()
}

class LifetimeFinder {
  readonly #parameters: number
  readonly #first: Int32Array
  readonly #last: Int32Array
  readonly #isShareable: Uint8Array
  readonly #isRead: Uint8Array
  /** By local, the block in which it is set before all uses. */
  readonly #homes: Block[] = []
  readonly #used: number[] = []
  readonly #open: Block[] = [newBlock(OP.block, 0)]
  /** The local that the last instruction set. */
  #justSet = NONE
  #hasJustLeft = false
  #uses = 0

  constructor(parameters: number, locals: number) {
    this.#parameters = parameters
    this.#first = new Int32Array(parameters + locals).fill(NONE)
    this.#last = new Int32Array(parameters + locals)
    this.#isShareable = new Uint8Array(parameters + locals)
    this.#isRead = new Uint8Array(parameters + locals)
  }

  use(local: number, opcode: number, at: number): void {
    this.#uses += 1
    this.#hasJustLeft = false
    this.#justSet = opcode === OP.setLocal ? local : NONE
    if (local < this.#parameters) return
    this.#last[local] = at
    if (opcode === OP.getLocal) this.#isRead[local] = 1
    const home = this.#homes[local]
    if (home === undefined) this.#begin(local, opcode, at)
    else {
      if (!home.isOpen) this.#isShareable[local] = 0
      const first = this.#first[local] ?? 0
      const loop = this.#open.find((block) => block.opcode === OP.loop && block.start > first)
      loop?.kept.push(local)
    }
  }

  #begin(local: number, opcode: number, at: number): void {
    this.#first[local] = at
    this.#used.push(local)
    this.#isShareable[local] = opcode === OP.getLocal ? 0 : 1
    this.#homes[local] = this.#open.at(-1) ?? newBlock(OP.block, at)
  }

  branch(depth: number, opcode: number): void {
    const target = this.#open.at(-1 - depth)
    if (target !== undefined) join(target, opcode === OP.branch ? this.#justSet : NONE)
    this.#justSet = NONE
    this.#hasJustLeft = opcode === OP.branch
  }

  step(opcode: number, at: number): void {
    // Of branches by a table it is not known where they lead to.
    if (opcode === OP.branchTable) for (const block of this.#open) block.set = NONE
    if (opcode === OP.end || opcode === OP.else) this.#close(at)
    if (opcode === OP.block || opcode === OP.if || opcode === OP.else || opcode === OP.loop)
      this.#open.push(newBlock(opcode, at))
    this.#justSet = NONE
    this.#hasJustLeft = false
  }

  #close(at: number): void {
    const block = this.#open.pop()
    if (block === undefined) return
    block.isOpen = false
    for (const local of block.kept) this.#last[local] = at
    if (!this.#hasJustLeft) join(block, this.#justSet)
    const { set = NONE, start } = block
    const isSetWithin = (this.#first[set] ?? 0) > start && this.#isRead[set] === 0
    const parent = this.#open.at(-1)
    if (block.opcode !== OP.block || !isSetWithin || parent === undefined) return
    this.#first[set] = start
    this.#isShareable[set] = 1
    this.#homes[set] = parent
  }

  lifetimes(): Lifetimes {
    const [first, last, isShareable] = [this.#first, this.#last, this.#isShareable]
    const inOrder = this.#used.toSorted((a, b) => (first[a] ?? 0) - (first[b] ?? 0))
    return { first, last, isShareable, inOrder, uses: this.#uses }
  }
}

function newBlock(opcode: number, start: number): Block {
  return { opcode, start, isOpen: true, set: undefined, kept: [] }
}

function join(block: Block, set: number): void {
  block.set = block.set === undefined || block.set === set ? set : NONE
}
