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

  it.each(['define', 'template', 'block'])(
    'ends the evaluation at {{%s}}, which OPA knows, and says so',
    (keyword) => {
      expect(outcomeOfRendering(`{{${keyword} "t"}}`)).toMatch(
        new RegExp(`^over budget: .*{{${keyword}}} in a template is not supported`),
      )
    },
  )

  it.each([
    '{{slice .l 2 1}}',
    '{{slice .l 4}}',
    '{{slice .l 1.0}}',
    '{{slice .m 1}}',
    '{{slice .t 0 1 1}}',
    '{{eq 1 1.0}}',
  ])('fails at %s, as OPA does', (template) => {
    expect(outcomeOfRendering(template, '{"l": [1, 2, 3], "m": {}, "t": "x"}')).toMatch(
      /^eval_builtin_error: /,
    )
  })

  it('ends the evaluation when nested ranges multiply', () => {
    const depth = 8
    const template = '{{range $.a}}'.repeat(depth) + 'x' + '{{end}}'.repeat(depth)
    const data = `{"a": [${Array.from({ length: 20 }, (_, i) => i).join(',')}]}`
    expect(outcomeOfRendering(template, data)).toMatch(/^over budget: /)
  })
})
