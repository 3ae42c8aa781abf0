import { isRecord } from '../../../lib/validation/record.js'
import { z } from 'zod'

/** A statement of OPA's intermediate representation, its operands by name. */
export interface Statement {
  readonly type: string
  readonly stmt: Readonly<Record<string, unknown>>
}

export interface Block {
  readonly stmts: readonly Statement[]
}

/** The parts of a plan (`opa build --target plan`) that show how a module is compiled. */
export interface Plan {
  readonly strings: readonly string[]
  readonly files: readonly string[]
  readonly functions: readonly PlannedFunction[]
}

export interface PlannedFunction {
  readonly name: string
  /** The group (`g0`), then the path below `data`. */
  readonly path: readonly string[]
  /** The number of parameters: `input`, `data`, and those of a function of the policy. */
  readonly parameters: number
  /** Locals of all blocks: the parameters and the result. */
  readonly given: readonly number[]
  /** True for the variant for calls below `with` on `data`, which hides rules. */
  readonly isBelowWith: boolean
  readonly blocks: readonly Block[]
}

/** The group of functions without replacements by `with`. */
const FIRST_GROUP = 'g0'
const Strings = z.array(z.object({ value: z.string() })).nullish()
const Head = z.object({
  static: z.object({ strings: Strings, files: Strings }),
  funcs: z.object({
    funcs: z
      .array(
        z.object({
          name: z.string(),
          params: z.array(z.number()),
          return: z.number(),
          path: z.array(z.string()).nullish(),
          blocks: z.array(z.unknown()),
        }),
      )
      .nullish(),
  }),
})

/** Reads `plan.json`. Raises an error for JSON of another shape. */
export function readPlan(text: string): Plan {
  const { static: constants, funcs } = Head.parse(JSON.parse(text))
  return {
    strings: (constants.strings ?? []).map(({ value }) => value),
    files: (constants.files ?? []).map(({ value }) => value),
    functions: (funcs.funcs ?? []).map(({ name, params, return: result, path, blocks }) => ({
      ...{ name, path: path ?? [], parameters: params.length },
      given: [...params, result],
      isBelowWith: (path?.[0] ?? FIRST_GROUP) !== FIRST_GROUP,
      blocks: blocks.map(toBlock),
    })),
  }
}

/** Returns the blocks of a statement: of a block, scan, negation or `with`. */
export function blocksOf({ stmt }: Statement): readonly Block[] {
  const { block, blocks } = stmt
  if (Array.isArray(blocks)) return blocks.map(toBlock)
  return block === undefined ? [] : [toBlock(block)]
}

/** Returns the number of the local that an operand names, if any. */
export function localOf(operand: unknown): number | undefined {
  if (typeof operand === 'number') return operand
  if (!isRecord(operand) || operand['type'] !== 'local') return undefined
  return typeof operand['value'] === 'number' ? operand['value'] : undefined
}

/** Returns the string of a constant operand, if it is one. */
export function stringOf(operand: unknown, strings: readonly string[]): string | undefined {
  if (!isRecord(operand) || operand['type'] !== 'string_index') return undefined
  return typeof operand['value'] === 'number' ? strings[operand['value']] : undefined
}

function toBlock(value: unknown): Block {
  const stmts = isRecord(value) ? value['stmts'] : undefined
  return { stmts: Array.isArray(stmts) ? stmts.filter(isStatement) : [] }
}

function isStatement(value: unknown): value is Statement {
  return isRecord(value) && typeof value['type'] === 'string' && isRecord(value['stmt'])
}
