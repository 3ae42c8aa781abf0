export type TemplateNode =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'action'; readonly pipeline: Pipeline }
  | {
      readonly kind: 'if' | 'with' | 'range'
      readonly pipeline: Pipeline
      readonly body: readonly TemplateNode[]
      readonly otherwise: readonly TemplateNode[]
    }
  | { readonly kind: 'break' | 'continue' }
  /** Renders another template with the value of the pipeline as its dot. */
  | (Position & { readonly kind: 'template'; readonly name: string; readonly pipeline: Pipeline | undefined })

/** The templates of a text by name, including the text itself. */
export type Templates = ReadonlyMap<string, readonly TemplateNode[]>

/** OPA's name of the text itself. */
export const WHOLE = 'template'

/** Commands from left to right: each value is the last argument of the next one. */
export interface Pipeline {
  readonly variables: readonly string[]
  readonly isDeclaration: boolean
  readonly commands: readonly Command[]
}

/** A function with its arguments, or a single operand. */
export interface Command extends Position {
  readonly operands: readonly Operand[]
}

/** A position in the template and its text, for error messages. */
export interface Position {
  readonly at: number
  readonly source: string
}

export type Operand = Position &
  (
    | {
        readonly kind: 'path'
        readonly root: Operand | string | undefined
        readonly fields: readonly string[]
      }
    | { readonly kind: 'integer'; readonly value: bigint }
    | { readonly kind: 'float'; readonly value: number }
    | { readonly kind: 'string'; readonly value: string }
    | { readonly kind: 'boolean'; readonly value: boolean }
    | { readonly kind: 'nil' }
    | { readonly kind: 'function'; readonly name: string }
    | { readonly kind: 'pipeline'; readonly pipeline: Pipeline }
  )
