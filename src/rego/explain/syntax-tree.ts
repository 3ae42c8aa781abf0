import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'

import { AppError } from '../../errors/app-error.js'
import { inTemporaryDirectoryBelow } from '../../lib/temporary-directory.js'
import type { OpaProgram } from '../opa/find-opa.js'
import { regoVersionFlags } from '../opa/opa-release.js'
import { runOpa } from '../opa/run-opa.js'
import { compileError, readOpaErrors } from '../modules/opa-errors.js'
import type { RegoModule } from '../modules/rego-module.js'

/** A location in a module. `text` is the source, which some locations lack. */
export interface TreeLocation {
  readonly row: number
  readonly col: number
  readonly text: string
}

/** A term of OPA's syntax tree. */
export type Term = { readonly location?: TreeLocation | undefined } & (
  | {
      readonly type: 'null' | 'boolean' | 'number' | 'string'
      readonly value: null | boolean | number | string
    }
  | { readonly type: 'var'; readonly value: string }
  | { readonly type: 'ref' | 'array' | 'set' | 'call'; readonly value: readonly Term[] }
  | { readonly type: 'object'; readonly value: readonly (readonly [Term, Term])[] }
  | {
      readonly type: 'arraycomprehension' | 'setcomprehension'
      readonly value: { readonly term: Term; readonly body: Body }
    }
  | {
      readonly type: 'objectcomprehension'
      readonly value: { readonly key: Term; readonly value: Term; readonly body: Body }
    }
  | {
      readonly type: 'templatestring'
      readonly value: {
        readonly parts: readonly (Term | Expression)[]
        readonly multi_line?: boolean | undefined
      }
    }
)

/** A condition: a term, a call (operator and operands), a declaration, or `every`. */
export interface Expression {
  readonly terms: Term | readonly Term[] | Declaration | Every
  readonly negated?: boolean | undefined
  readonly with?: readonly { readonly target: Term; readonly value: Term }[] | undefined
  readonly location?: TreeLocation | undefined
}

export type Body = readonly Expression[]

/** `some a, b` or `some x in xs`. */
export interface Declaration {
  readonly symbols: readonly Term[]
}

export interface Every {
  readonly key?: Term | null | undefined
  readonly value: Term
  readonly domain: Term
  readonly body: Body
}

export interface TreeRule {
  readonly default?: boolean | undefined
  readonly head: {
    readonly name?: string | undefined
    readonly ref?: readonly Term[] | undefined
    readonly args?: readonly Term[] | undefined
    readonly key?: Term | undefined
    readonly value?: Term | undefined
    readonly assign?: boolean | undefined
  }
  readonly body: Body
  readonly else?: TreeRule | undefined
  readonly location?: TreeLocation | undefined
}

/** The members of `# METADATA` that explanations show. */
export interface Labels {
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly custom?: Readonly<Record<string, unknown>> | undefined
}

export interface Annotation extends Labels {
  readonly scope: string
  readonly location?: TreeLocation | undefined
}

export interface SyntaxTree {
  /** The line of the package. */
  readonly packageRow: number
  readonly imports: readonly { readonly path: Term; readonly alias?: string | undefined }[]
  readonly annotations: readonly Annotation[]
  readonly rules: readonly TreeRule[]
}

const Location = z
  .object({ row: z.number(), col: z.number(), text: z.string().default('') })
  .transform(({ row, col, text }) => ({ row, col, text: Buffer.from(text, 'base64').toString() }))
  .optional()
const TermSchema: z.ZodType<Term> = z.lazy(() => {
  const of = <T extends string, V extends z.ZodType>(types: readonly [T, ...T[]], value: V) =>
    z.object({ type: z.enum(types), value, location: Location })
  const terms = z.array(TermSchema)
  return z.discriminatedUnion('type', [
    // OPA prints null as an empty object.
    z.object({ type: z.enum(['null']), value: z.unknown().transform(() => null), location: Location }),
    of(['boolean', 'number', 'string'], z.union([z.boolean(), z.number(), z.string()])),
    of(['var'], z.string()),
    of(['ref', 'array', 'set', 'call'], terms),
    of(['object'], z.array(z.tuple([TermSchema, TermSchema]))),
    of(['arraycomprehension', 'setcomprehension'], z.object({ term: TermSchema, body: BodySchema })),
    of(['objectcomprehension'], z.object({ key: TermSchema, value: TermSchema, body: BodySchema })),
    of(
      ['templatestring'],
      z.object({
        parts: z.array(z.union([ExpressionSchema, TermSchema])),
        multi_line: z.boolean().optional(),
      }),
    ),
  ])
})
const ExpressionSchema: z.ZodType<Expression> = z.lazy(() =>
  z.object({
    terms: z.union([
      z.array(TermSchema),
      z.object({ symbols: z.array(TermSchema) }),
      z.object({ domain: TermSchema, value: TermSchema, key: TermSchema.nullish(), body: BodySchema }),
      TermSchema,
    ]),
    negated: z.boolean().optional(),
    with: z.array(z.object({ target: TermSchema, value: TermSchema })).optional(),
    location: Location,
  }),
)
const BodySchema: z.ZodType<Body> = z.lazy(() => z.array(ExpressionSchema))
const RuleSchema: z.ZodType<TreeRule> = z.lazy(() =>
  z.object({
    default: z.boolean().optional(),
    head: z.object({
      name: z.string().optional(),
      ref: z.array(TermSchema).optional(),
      args: z.array(TermSchema).optional(),
      key: TermSchema.optional(),
      value: TermSchema.optional(),
      assign: z.boolean().optional(),
    }),
    body: BodySchema,
    else: RuleSchema.optional(),
    location: Location,
  }),
)
const TreeSchema: z.ZodType<SyntaxTree> = z
  .object({
    package: z.object({ location: Location }),
    imports: z.array(z.object({ path: TermSchema, alias: z.string().optional() })).default([]),
    annotations: z
      .array(
        z.object({
          scope: z.string(),
          title: z.string().optional(),
          description: z.string().optional(),
          custom: z.record(z.string(), z.unknown()).optional(),
          location: Location,
        }),
      )
      .default([]),
    rules: z.array(RuleSchema).default([]),
  })
  .transform(({ package: { location }, ...tree }) => ({ ...tree, packageRow: location?.row ?? 1 }))

const FILE = 'module.rego'

/**
 * Returns OPA's syntax tree of a module, with locations. Raises `invalid` with OPA's errors, and
 * `unavailable` for a tree of another form.
 */
export async function parseTree(opa: OpaProgram, module: RegoModule): Promise<SyntaxTree> {
  const run = await inTemporaryDirectoryBelow(opa.temporaryFolder, async (directory) => {
    await writeFile(join(directory, FILE), module.text)
    const flags = await regoVersionFlags(opa, module.version)
    const args = ['parse', '--format', 'json', '--json-include', 'locations', ...flags, FILE]
    return await runOpa(opa, args, { cwd: directory })
  })
  if (run.exitCode !== 0) throw compileError(readOpaErrors(run, () => module.file))
  const tree = TreeSchema.safeParse(JSON.parse(run.stdout))
  if (tree.success) return tree.data
  throw new AppError(
    'unavailable',
    `${module.file} has a form that cannot be traced. Explain the decision with another release of opa (--opa or OPA_BIN)`,
    { cause: tree.error },
  )
}
