import { describe, expect, it } from 'vitest'
import { renderTemplateBuiltins } from '../../../../src/pdp/builtins/render-template/render-template.js'
import { builtinCases } from '../../../support/builtin-cases.js'
import { outcomeOf } from '../../../support/builtin-outcome.js'

function outcomeOfRendering(template: string, data = '{}'): string {
  return outcomeOf(
    renderTemplateBuiltins,
    'strings.render_template',
    `[${JSON.stringify(template)}, ${data}]`,
  )
}

describe('templates', () => {
  it.each(builtinCases('render-template'))('%s of %s gives %s as OPA does', (builtin, args, outcome) => {
    expect(outcomeOf(renderTemplateBuiltins, builtin, args)).toBe(outcome)
  })

  it.each(['define', 'template', 'block'])('says that {{%s}} is not supported', (keyword) => {
    expect(outcomeOfRendering(`{{${keyword} "t"}}`)).toBe(
      `eval_builtin_error: template: {{${keyword}}} is not supported`,
    )
  })

  it('ends the evaluation when nested ranges multiply', () => {
    const depth = 8
    const template = '{{range $.a}}'.repeat(depth) + 'x' + '{{end}}'.repeat(depth)
    const data = `{"a": [${Array.from({ length: 20 }, (_, i) => i).join(',')}]}`
    expect(outcomeOfRendering(template, data)).toMatch(/^over budget: /)
  })
})
