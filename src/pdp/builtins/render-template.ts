import type { Builtin, BuiltinTable } from './builtin.js'
import { readJsonDocument } from './encoding/json-document.js'
import { displayText } from './display-text.js'
import { objectOperand, stringOperand } from './operands.js'
import { parseTemplate } from './render-template/parse-template.js'
import { render } from './render-template/render.js'

const renderTemplate: Builtin = (args) => {
  const template = stringOperand(args, 0)
  // OPA reads the data back from its Rego text as if that were JSON, so that sets are refused.
  const data = readJsonDocument(Buffer.from(displayText(objectOperand(args, 1))), 'decoder')
  return render(template, parseTemplate(template), data)
}

export const renderTemplateBuiltins: BuiltinTable = { 'strings.render_template': renderTemplate }
