import type { WorkMeter } from '../../metering/work-meter.js'
import { RegoObject } from '../../values/value.js'
import type { RegoValue } from '../../values/value.js'
import { readJsonDocument } from '../encoding/json-document.js'
import { displayText } from '../go-format/display-text.js'
import { BuiltinError } from '../shared/builtin.js'
import type { Builtin, BuiltinTable } from '../shared/builtin.js'
import { ensureResultLength } from '../shared/call-costs.js'
import { objectOperand, stringOperand } from '../shared/operands.js'
import { callFunction } from './functions.js'
import { parseTemplate } from './parse-template.js'
import { WHOLE } from './template-node.js'
import type { Command, Operand, Pipeline, Position, TemplateNode, Templates } from './template-node.js'
import { isTrue, printValue, TemplateNumber } from './template-value.js'
import type { TemplateValue } from './template-value.js'

/** Cost in evaluation steps of parsing an action, and of comparing a variable with another. */
const ACTION_STEPS = 400
const VARIABLE_STEPS = 0.01

/** Go's text for a missing value. OPA replaces it since 1.13, even in literal text. */
const NO_VALUE = '<no value>'

/** The lookup of each variable may compare it with all others. */
function payForParsing(template: string, meter: WorkMeter): void {
  const variables = countOf('$', template)
  meter.spend(countOf('{{', template) * ACTION_STEPS + variables * variables * VARIABLE_STEPS)
}

function countOf(part: string, text: string): number {
  let count = 0
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) count++
  return count
}

const renderTemplate: Builtin = (args, { meter }) => {
  const template = stringOperand(args, 0)
  // OPA parses the Rego text of the data as JSON, so sets are refused.
  const data = readJsonDocument(Buffer.from(displayText(objectOperand(args, 1))), 'decoder')
  payForParsing(template, meter)
  return render(template, parseTemplate(template, meter), data, meter).replaceAll(NO_VALUE, '<undefined>')
}

export const renderTemplateBuiltins: BuiltinTable = { 'strings.render_template': renderTemplate }

/** Maximum nesting of called templates and bodies, which use the call stack. */
const MAX_DEPTH = 1000
/** Cost in evaluation steps per executed node, per compared variable, and per printed character. */
const NODE_STEPS = 80
const ITEM_BYTES = 64
const COPY_VARIABLE_STEPS = 0.5
const CHARACTER_STEPS = 3

type Block = Extract<TemplateNode, { kind: 'if' | 'with' | 'range' }>
/** Whether the rest of the enclosing range's body runs. */
type Flow = 'on' | 'break' | 'continue'

/** Renders a template with `data` as its dot. Throws BuiltinError with Go's message. */
function render(template: string, templates: Templates, data: RegoValue, meter: WorkMeter): string {
  const renderer = new Renderer(template, templates, meter)
  renderer.call(WHOLE, data)
  return renderer.output
}

class Renderer {
  output = ''
  readonly #template: string
  readonly #templates: Templates
  readonly #meter: WorkMeter
  #variables: { readonly name: string; value: TemplateValue }[] = []
  #name = WHOLE
  #depth = 0

  constructor(template: string, templates: Templates, meter: WorkMeter) {
    this.#template = template
    this.#templates = templates
    this.#meter = meter
  }

  /** Renders a template, which only sees its dot. `place` is the call's position. */
  call(name: string, dot: TemplateValue, position?: Position): void {
    const nodes = this.#templates.get(name)
    if (nodes === undefined) return this.#fail(position, `template ${JSON.stringify(name)} not defined`)
    const [variables, caller] = [this.#variables, this.#name]
    this.#variables = [{ name: '$', value: dot }]
    this.#name = name
    this.#run(nodes, dot)
    this.#variables = variables
    this.#name = caller
  }

  /** Ends the evaluation if nesting exceeds the stack. Go's limit is higher. */
  #run(nodes: readonly TemplateNode[], dot: TemplateValue): Flow {
    this.#depth++
    if (this.#depth > MAX_DEPTH)
      this.#meter.exceed(`templates call each other more than ${MAX_DEPTH} levels deep`)
    const flow = this.#runAll(nodes, dot)
    this.#depth--
    return flow
  }

  #runAll(nodes: readonly TemplateNode[], dot: TemplateValue): Flow {
    for (const node of nodes) {
      this.#meter.spend(NODE_STEPS)
      const flow = this.#runNode(node, dot)
      if (flow !== 'on') return flow
    }
    return 'on'
  }

  #runNode(node: TemplateNode, dot: TemplateValue): Flow {
    switch (node.kind) {
      case 'text':
        this.#write(node.text)
        return 'on'
      case 'action': {
        const value = this.#evaluate(node.pipeline, dot)
        if (node.pipeline.variables.length === 0) this.#write(printValue(value))
        return 'on'
      }
      case 'break':
      case 'continue':
        return node.kind
      case 'template':
        this.call(node.name, node.pipeline && this.#evaluate(node.pipeline, dot), node)
        return 'on'
      default:
        return this.#inScope(() => this.#runBlock(node, dot))
    }
  }

  #runBlock(node: Block, dot: TemplateValue): Flow {
    if (node.kind === 'range') return this.#runRange(node, dot)
    const value = this.#evaluate(node.pipeline, dot)
    if (!isTrue(value)) return this.#run(node.otherwise, dot)
    return this.#run(node.body, node.kind === 'with' ? value : dot)
  }

  #runRange(node: Block, dot: TemplateValue): Flow {
    const value = this.#evaluate({ ...node.pipeline, variables: [] }, dot)
    const items = this.#itemsOf(value, node.pipeline)
    if (items.length === 0) return this.#run(node.otherwise, dot)
    const [first, second] = node.pipeline.variables
    for (const [key, item] of items) {
      const flow = this.#inScope(() => {
        if (first !== undefined) this.#declare(first, second === undefined ? item : key)
        if (second !== undefined) this.#declare(second, item)
        return this.#run(node.body, item)
      })
      if (flow === 'break') break
    }
    return 'on'
  }

  #itemsOf(value: TemplateValue, pipeline: Pipeline): readonly (readonly [TemplateValue, TemplateValue])[] {
    if (value instanceof RegoObject) return value.entries
    if (Array.isArray(value)) {
      return (value as readonly RegoValue[]).map((item, i) => [new TemplateNumber(BigInt(i)), item] as const)
    }
    if (value instanceof TemplateNumber && typeof value.value === 'bigint') {
      const count = Number(value.value)
      this.#meter.spend(Math.max(0, count) * NODE_STEPS)
      this.#meter.reserve(Math.max(0, count) * ITEM_BYTES)
      return Array.from({ length: Math.max(0, count) }, (_, i) => {
        const number = new TemplateNumber(BigInt(i))
        return [number, number] as const
      })
    }
    return value === undefined || value === null
      ? []
      : this.#fail(pipeline.commands[0], `range can't iterate over ${printValue(value)}`)
  }

  #evaluate(pipeline: Pipeline, dot: TemplateValue): TemplateValue {
    let value: TemplateValue
    for (const [i, command] of pipeline.commands.entries()) {
      value = this.#command(command, dot, i === 0 ? [] : [value])
    }
    for (const name of pipeline.variables) {
      if (pipeline.isDeclaration) this.#declare(name, value)
      else this.#assign(name, value, pipeline.commands[0])
    }
    return value
  }

  #command(command: Command, dot: TemplateValue, piped: readonly TemplateValue[]): TemplateValue {
    const [first, ...rest] = command.operands
    if (first?.kind === 'nil') return this.#fail(command, 'nil is not a command')
    if (first?.kind !== 'function') {
      if (rest.length + piped.length > 0) {
        return this.#fail(command, `can't give argument to non-function ${first?.source ?? ''}`)
      }
      return first === undefined ? undefined : this.#operand(first, dot)
    }
    const args = rest.map((operand) => this.#operand(operand, dot))
    return this.#guarded(command, () => callFunction(first.name, [...args, ...piped], this.#meter))
  }

  #operand(operand: Operand, dot: TemplateValue): TemplateValue {
    switch (operand.kind) {
      case 'path': {
        const { root } = operand
        const start =
          root === undefined
            ? dot
            : typeof root === 'string'
              ? this.#variable(root)
              : this.#operand(root, dot)
        return operand.fields.reduce((value, field) => this.#fieldOf(value, field, operand), start)
      }
      case 'integer':
      case 'float':
        return new TemplateNumber(operand.value)
      case 'string':
      case 'boolean':
        return operand.value
      case 'nil':
        return null
      case 'function':
        return this.#guarded(operand, () => callFunction(operand.name, [], this.#meter))
      case 'pipeline':
        return this.#evaluate(operand.pipeline, dot)
    }
  }

  #fieldOf(value: TemplateValue, field: string, position: Position): TemplateValue {
    // Members of a missing key are missing, too.
    if (value === undefined) return undefined
    if (!(value instanceof RegoObject)) {
      return this.#fail(position, `can't evaluate field ${field} in type interface {}`)
    }
    return value.get(field)
  }

  #variable(name: string): TemplateValue {
    this.#meter.spend(this.#variables.length * COPY_VARIABLE_STEPS)
    return this.#variables.findLast((variable) => variable.name === name)?.value
  }

  #declare(name: string, value: TemplateValue): void {
    this.#variables.push({ name, value })
  }

  #assign(name: string, value: TemplateValue, position: Position | undefined): void {
    this.#meter.spend(this.#variables.length * COPY_VARIABLE_STEPS)
    const variable = this.#variables.findLast((one) => one.name === name)
    if (variable === undefined) this.#fail(position, `undefined variable: ${name}`)
    variable.value = value
  }

  #inScope(run: () => Flow): Flow {
    const depth = this.#variables.length
    const flow = run()
    this.#variables.length = depth
    return flow
  }

  #guarded(position: Position, call: () => TemplateValue): TemplateValue {
    try {
      return call()
    } catch (raw) {
      return raw instanceof BuiltinError ? this.#fail(position, raw.message) : fail(raw)
    }
  }

  #write(text: string): void {
    this.output += text
    this.#meter.spend(text.length * CHARACTER_STEPS)
    ensureResultLength(this.output.length, this.#meter)
  }

  #fail(position: Position | undefined, problem: string): never {
    const before = this.#template.slice(0, position?.at ?? 0)
    const line = before.split('\n').length
    const column = Buffer.byteLength(before.slice(before.lastIndexOf('\n') + 1))
    const where = `template: template:${line}:${column}: executing ${JSON.stringify(this.#name)} at <${position?.source ?? ''}>`
    throw new BuiltinError(`${where}: ${problem}`)
  }
}

function fail(raw: unknown): never {
  throw raw
}
