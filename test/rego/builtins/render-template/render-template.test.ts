import { describe, expect, it } from 'vitest'
import { renderTemplateBuiltins } from '../../../../src/rego/builtins/render-template/render-template.js'
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

  it.each(['{{define "t"}}{{template "t" .}}{{end}}{{template "t" .}}', '{{if true}}'.repeat(501)])(
    'ends the evaluation where they are nested deeper than the stack allows: %s',
    (template) => {
      expect(outcomeOfRendering(template)).toMatch(/^over budget: .* levels deep/)
    },
  )

  it('ends the evaluation when templates that call each other multiply', () => {
    const doubling = (nth: number): string =>
      `{{define "t${nth + 1}"}}{{template "t${nth}"}}{{template "t${nth}"}}{{end}}`
    const template = Array.from({ length: 40 }, (_, nth) => doubling(nth)).join('')
    expect(outcomeOfRendering(`{{define "t0"}}{{end}}${template}{{template "t40"}}`)).toMatch(
      /^over budget: /,
    )
  })

  it('restores the depth after a call', () => {
    const template = '{{define "t"}}{{.}}{{end}}{{range 3000}}{{template "t" .}}{{end}}'
    expect(outcomeOfRendering(template)).toMatch(/^"012.*2999"$/)
  })

  it.each([
    '{{slice .l 2 1}}',
    '{{slice .l 4}}',
    '{{slice .l 1.0}}',
    '{{slice .m 1}}',
    '{{slice .t 0 1 1}}',
    '{{eq 1 1.0}}',
    '{{template "t"}}',
    '{{if .t}}{{define "x"}}y{{end}}{{end}}',
    '{{define "x"}}{{define "y"}}y{{end}}{{end}}',
    '{{define "x"}}a{{end}}{{define "x"}}b{{end}}',
    '{{define "template"}}a{{end}}x',
    '{{$v := 1}}{{define "x"}}{{$v}}{{end}}',
    '{{range .l}}{{block "i" .}}{{break}}{{end}}{{end}}',
    '{{define .t}}{{end}}',
    '{{define "x" .}}{{end}}',
    '{{define "x"}}',
    '{{define "x"}}a{{else}}b{{end}}',
    '{{block "b"}}x{{end}}',
    '{{template}}',
    '{{template "x" .t)}}{{define "x"}}{{end}}',
    '{{break}}',
    '{{if .t}}{{continue}}{{end}}',
    '{{if .t}}x{{end foo}}',
    '{{range .l}}{{break x}}{{end}}',
    '{{if .t}}x{{else foo}}y{{end}}',
    '{{range .l}}x{{else range .m}}y{{end}}',
    '{{.t)}}',
    '{{$x = 1}}',
    '{{$x, $y := 1}}',
    "{{'ab'}}",
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
