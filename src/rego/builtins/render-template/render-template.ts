import type { WorkMeter } from '../../metering/work-meter.js'
import type { Builtin, BuiltinTable } from '../shared/builtin.js'
import { readJsonDocument } from '../encoding/json-document.js'
import { displayText } from '../go-format/display-text.js'
import { objectOperand, stringOperand } from '../shared/operands.js'
import { parseTemplate } from './parse-template.js'
import { render } from './render.js'

/** Steps of reading an action, and of looking for a variable among the others. */
const ACTION_STEPS = 400
const VARIABLE_STEPS = 0.01

/** What Go prints where there is no value; OPA has another word for it since 1.13, wherever it came from. */
const NO_VALUE = '<no value>'

/** Every variable may be looked for among all of them. */
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
  // OPA reads the data back from its Rego text as if that were JSON, so that sets are refused.
  const data = readJsonDocument(Buffer.from(displayText(objectOperand(args, 1))), 'decoder')
  payForParsing(template, meter)
  return render(template, parseTemplate(template, meter), data, meter).replaceAll(NO_VALUE, '<undefined>')
}

export const renderTemplateBuiltins: BuiltinTable = { 'strings.render_template': renderTemplate }
