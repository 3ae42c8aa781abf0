/** What a template consists of. */
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
  /** Another template is rendered here, with the value of the pipeline as its dot. */
  | (Place & { readonly kind: 'template'; readonly name: string; readonly pipeline: Pipeline | undefined })

/** The templates of a text by their names, the text itself among them. */
export type Templates = ReadonlyMap<string, readonly TemplateNode[]>

/** What OPA calls the text itself. */
export const WHOLE = 'template'

/** Commands from left to right, each one's value the last argument of the next; maybe kept in variables. */
export interface Pipeline {
  readonly variables: readonly string[]
  readonly isDeclaration: boolean
  readonly commands: readonly Command[]
}

/** A function with its arguments, or one operand alone. */
export interface Command extends Place {
  readonly operands: readonly Operand[]
}

/** Where in the template something stands, and its text, for messages. */
export interface Place {
  readonly at: number
  readonly source: string
}

export type Operand = Place &
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
