import { encodeUnsigned } from './binary/binary-reader.js'
import { encodeSigned, OP } from './binary/instructions.js'
import {
  DECIMAL,
  INTERNED_STRING,
  NUMBER_LENGTH,
  NUMBER_TEXT,
  SET,
  STRING,
  STRING_LENGTH,
  STRING_TEXT,
} from './module/value-layout.js'
import type { HostTurn } from './native-builtins.js'

/** What a wrapper finds out by itself: a call of the host costs as much as a dozen calls within the module. */
export type TestedTurn = Exclude<HostTurn, 'always' | 'chosen'>

/** Locals that the code uses, behind the one for the result. */
export const SCRATCH_LOCALS = 3

/** Types of blocks. */
const [I32, EMPTY] = [0x7f, 0x40]
/** Where values have their texts. */
const OF_STRING = { length: STRING_LENGTH, text: STRING_TEXT } as const
const OF_NUMBER = { length: NUMBER_LENGTH, text: NUMBER_TEXT } as const

const LONGEST_SHORT_INTEGER = 15
const LONGEST_PLAIN_PATTERN = 300
const [ZERO, NINE] = [0x30, 0x39]
const [BACKSLASH, LETTER_C] = [0x5c, 0x43]

/** Leaves 1 on the stack where the host is to be asked, else 0. Whatever an operand is, what is read lies in the memory. */
export function hostTurnCode(turn: TestedTurn, parameterCount: number): number[] {
  const scratch = locals(parameterCount)
  if (turn === 'decimal') {
    const tests = Array.from({ length: parameterCount }, (_, operand) => isOddNumber(operand, scratch))
    return tests.flatMap((test, index) => (index === 0 ? test : [...test, OP.or]))
  }
  const { operand, is } = turn
  if (is === 'set') return hasType(operand, SET)
  if (is === 'empty text') return [...load(operand, OP.load, STRING_LENGTH), OP.isZero]
  const oddText =
    is === 'text' ? isNoInteger(operand, OF_STRING, scratch, true) : isOddPattern(operand, scratch)
  const isText = [...hasType(operand, STRING), ...hasType(operand, INTERNED_STRING), OP.or]
  return andThen(isText, oddText)
}

interface Scratch {
  readonly isOdd: readonly number[]
  readonly at: readonly number[]
  readonly end: readonly number[]
}

/** The numbers of the locals behind the parameters and the result. */
function locals(parameterCount: number): Scratch {
  const [isOdd = [], at = [], end = []] = [1, 2, 3].map((number) => encodeUnsigned(parameterCount + number))
  return { isOdd, at, end }
}

/** Numbers written in a policy are texts, too; those of a few digits the module takes for integers as well. */
function isOddNumber(operand: number, scratch: Scratch): number[] {
  const isDecimal = [...load(operand, OP.loadHalf, 0), ...constant(DECIMAL), OP.equal]
  return andThen(isDecimal, isNoInteger(operand, OF_NUMBER, scratch, false))
}

/** Whether a text is anything but one to fifteen digits, or begins with a zero where it may not. */
function isNoInteger(
  operand: number,
  { length, text }: { readonly length: number; readonly text: number },
  { isOdd, at, end }: Scratch,
  refusesZeros: boolean,
): number[] {
  const isZeroFirst = [...loadAt(at, 0), ...constant(ZERO), OP.equal]
  const isLong = [...load(operand, OP.load, length), ...constant(1), OP.greaterUnsigned]
  const body = [
    ...load(operand, OP.load, length),
    ...[...constant(1), OP.subtract, ...constant(LONGEST_SHORT_INTEGER), OP.atLeastUnsigned],
    ...branchIf(0),
    ...eachByte(
      operand,
      { length, text },
      { at, end },
      [
        ...[...loadAt(at, 0), ...constant(ZERO), OP.subtract, ...constant(NINE - ZERO), OP.greaterUnsigned],
        ...branchIf(1),
      ],
      refusesZeros ? [...isZeroFirst, ...isLong, OP.and, ...branchIf(0)] : [],
    ),
  ]
  return unlessLeft(body, isOdd)
}

/** C++'s RE2 takes some patterns that Go's does not: what has a `\\C` in it, and groups that stand deep in each other. */
function isOddPattern(operand: number, { isOdd, at, end }: Scratch): number[] {
  const body = [
    ...[...load(operand, OP.load, STRING_LENGTH), ...constant(LONGEST_PLAIN_PATTERN), OP.greaterUnsigned],
    ...branchIf(0),
    // A pattern without any characters is none to look through.
    ...[OP.block, EMPTY, ...load(operand, OP.load, STRING_LENGTH), OP.isZero, ...branchIf(0)],
    ...eachByte(
      operand,
      OF_STRING,
      { at, end },
      [
        ...[...loadAt(at, 0), ...constant(BACKSLASH), OP.equal],
        ...[OP.if, EMPTY, ...loadAt(at, 1), ...constant(LETTER_C), OP.equal, ...branchIf(3), OP.end],
      ],
      [],
    ),
    OP.end,
  ]
  return unlessLeft(body, isOdd)
}

/** Leaves 1 where the code branches out of its block, else 0. */
function unlessLeft(code: readonly number[], flag: readonly number[]): number[] {
  return [
    ...[...constant(1), OP.setLocal, ...flag],
    ...[OP.block, EMPTY, ...code, ...constant(0), OP.setLocal, ...flag, OP.end],
    ...[OP.getLocal, ...flag],
  ]
}

/** Does something at each byte of a text that has some, and something at the first before. */
function eachByte(
  operand: number,
  { length, text }: { readonly length: number; readonly text: number },
  { at, end }: Pick<Scratch, 'at' | 'end'>,
  code: readonly number[],
  before: readonly number[],
): number[] {
  return [
    ...[...load(operand, OP.load, text), OP.teeLocal, ...at],
    ...[...load(operand, OP.load, length), OP.add, OP.setLocal, ...end],
    ...before,
    ...[OP.loop, EMPTY, ...code],
    ...[OP.getLocal, ...at, ...constant(1), OP.add, OP.teeLocal, ...at],
    ...[OP.getLocal, ...end, OP.lessUnsigned, ...branchIf(0), OP.end],
  ]
}

/** The second only where the first leaves 1. */
function andThen(condition: readonly number[], code: readonly number[]): number[] {
  return [...condition, OP.if, I32, ...code, OP.else, ...constant(0), OP.end]
}

function hasType(operand: number, type: number): number[] {
  return [...load(operand, OP.loadByte, 0), ...constant(type), OP.equal]
}

function constant(value: number): number[] {
  return [OP.constant, ...encodeSigned(value)]
}

function branchIf(depth: number): number[] {
  return [OP.branchIf, depth]
}

/** Without a hint of alignment. */
function load(operand: number, opcode: number, offset: number): number[] {
  return [OP.getLocal, ...encodeUnsigned(operand), opcode, 0x00, ...encodeUnsigned(offset)]
}

function loadAt(address: readonly number[], offset: number): number[] {
  return [OP.getLocal, ...address, OP.loadByte, 0x00, ...encodeUnsigned(offset)]
}
