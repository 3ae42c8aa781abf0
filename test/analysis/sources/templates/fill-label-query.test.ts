import { describe, expect, test } from 'vitest'

import { fillLabelQuery } from '../../../../src/analysis/sources/templates/fill-label-query.js'
import { problemsOf } from '../../../support/problems-of.js'

const BREAKOUT = 'x"} or vector(1) #'

describe('a value of the scope in PromQL or LogQL', () => {
  const cases: readonly { name: string; template: string; value: string; filled: string }[] = [
    { name: 'in a string', template: 'up{pod="${pod}"}', value: 'web-1', filled: 'up{pod="web-1"}' },
    {
      name: 'cannot end a string',
      template: 'up{pod="${pod}"}',
      value: BREAKOUT,
      filled: String.raw`up{pod="x\"} or vector(1) #"}`,
    },
    {
      name: 'cannot end a string with a backslash',
      template: 'up{pod="${pod}",a="b"}',
      value: 'x\\',
      filled: String.raw`up{pod="x\\",a="b"}`,
    },
    {
      name: 'keeps the other quote as it is, which Go would not read escaped',
      template: `up{a="\${pod}",b='\${pod}'}`,
      value: `"'`,
      filled: String.raw`up{a="\"'",b='"\''}`,
    },
    {
      name: 'keeps its control characters as escapes',
      template: 'up{pod="${pod}"}',
      value: 'a\nb\0',
      filled: String.raw`up{pod="a\u000ab\u0000"}`,
    },
    {
      name: 'in a regular expression matches only itself',
      template: 'up{pod=~"${pod}-.*"}',
      value: 'a.b|c',
      filled: String.raw`up{pod=~"a\\.b\\|c-.*"}`,
    },
    {
      name: 'in a negated regular expression too',
      template: 'up{pod!~"(?:${pod})"}',
      value: '.*',
      filled: String.raw`up{pod!~"(?:\\.\\*)"}`,
    },
    {
      name: 'in a backquoted regular expression is escaped once',
      template: '{app="a"} |~ `id=${pod}$`',
      value: 'a.b',
      filled: '{app="a"} |~ `id=a\\.b$`',
    },
    {
      name: 'in a line filter is text',
      template: '{app="a"} |= "${pod}" != "${pod}"',
      value: 'a.b',
      filled: '{app="a"} |= "a.b" != "a.b"',
    },
    {
      name: 'after `or` means what the first alternative means',
      template: '{app="a"} |~ "x" or "${pod}"',
      value: 'a.b',
      filled: String.raw`{app="a"} |~ "x" or "a\\.b"`,
    },
    {
      name: 'in the regexp stage matches only itself',
      template: '{app="a"} | regexp "${pod} (?P<code>.*)"',
      value: '(',
      filled: String.raw`{app="a"} | regexp "\\( (?P<code>.*)"`,
    },
    {
      name: 'in a label filter after a formatting stage is text',
      template: '{app="a"} | json | pod="${pod}"',
      value: 'a.b',
      filled: '{app="a"} | json | pod="a.b"',
    },
    {
      name: 'in a regular expression whose operator stands before a comment',
      template: 'up{pod=~"${pod}" # "\n}',
      value: 'a.b',
      filled: 'up{pod=~"a\\\\.b" # "\n}',
    },
    {
      name: 'in the stage after a format is text again',
      template: '{app="a"} | line_format "{{.x}}" | level = "${pod}"',
      value: 'a.b',
      filled: '{app="a"} | line_format "{{.x}}" | level = "a.b"',
    },
    {
      name: 'bare, where it is a word',
      template: 'rate(http_${pod}_total[${pod}])',
      value: '5m',
      filled: 'rate(http_5m_total[5m])',
    },
    {
      name: 'beside the groups of a replacement',
      template: 'label_replace(up{pod="${pod}"}, "a", "${1}", "b", "(.*)")',
      value: 'x',
      filled: 'label_replace(up{pod="x"}, "a", "${1}", "b", "(.*)")',
    },
    {
      name: 'outside of a call that has ended',
      template: 'label_replace(up, "a", "b", "c", "d") * up{pod="${pod}"}',
      value: 'a.b',
      filled: 'label_replace(up, "a", "b", "c", "d") * up{pod="a.b"}',
    },
  ]
  test.each(cases)('$name', ({ template, value, filled }) => {
    expect(fillLabelQuery(template, { pod: value })).toBe(filled)
  })

  const refused: readonly { name: string; template: string; value: string; problem: string }[] = [
    {
      name: 'bare, when it is no word',
      template: 'up{${pod}}',
      value: 'a="b"',
      problem: 'only allows letters',
    },
    {
      name: 'bare, when it adds a matcher',
      template: 'up{a="b"${pod}}',
      value: ',c="d"',
      problem: 'letters',
    },
    { name: 'in a comment that it would end', template: 'up # ${pod}', value: '\nor up', problem: 'letters' },
    {
      name: 'with a backquote between backquotes',
      template: '{a=`${pod}`}',
      value: '`} or',
      problem: 'without a backquote',
    },
    {
      name: 'in the pattern of label_replace',
      template: 'label_replace(up, "a", "$1", "b", "${pod}(.*)")',
      value: '.*',
      problem: 'letters',
    },
    {
      name: 'in a format',
      template: '{a="b"} | line_format "${pod}"',
      value: '{{.password}}',
      problem: 'letters',
    },
    {
      name: 'in the second string of a format',
      template: '{a="b"} | label_format c="d", e="${pod}"',
      value: '{{.password}}',
      problem: 'letters',
    },
    {
      name: 'in a path of JSON',
      template: '{a="b"} | # what\n json c="${pod}"',
      value: 'a[0]',
      problem: 'letters',
    },
    { name: 'in a pattern of LogQL', template: '{a="b"} |> "${pod}"', value: '<_>', problem: 'letters' },
    {
      name: 'after a backslash',
      template: String.raw`up{a=~"\\${'${pod}'}"}`,
      value: 'd',
      problem: 'cannot follow a backslash',
    },
    { name: 'in a string that does not end', template: 'up{a="${pod}}', value: 'd', problem: 'does not end' },
    { name: 'that is empty', template: 'up{a=~".*${pod}.*"}', value: '', problem: 'is empty in the scope' },
  ]
  test.each(refused)('is refused $name', ({ template, value, problem }) => {
    expect(problemsOf(() => fillLabelQuery(template, { pod: value }))).toEqual([
      expect.stringContaining(problem),
    ])
  })
})

describe('a template', () => {
  test('of many strings and backslashes takes no longer than its length', () => {
    const long = `up{${'a="b",'.repeat(20_000)}c="${'\\\\'.repeat(50_000)}"}`
    expect(fillLabelQuery(long, {})).toBe(long)
  })

  test('without placeholders stays as it is', () => {
    const query = 'sum by (pod) (rate(a{b=~"c\\\\.d", e!=\'f\'}[5m])) # $notes {x}'
    expect(fillLabelQuery(query, {})).toBe(query)
  })

  test('has all its problems named at once', () => {
    expect(problemsOf(() => fillLabelQuery('up{a="${pod}", b="${}", ${toString}}', { app: 'x' }))).toEqual([
      '${pod} is not in the scope, which has app',
      expect.stringContaining('${} is not a placeholder'),
      '${toString} is not in the scope, which has app',
    ])
  })

  test('takes names with dots and dashes, as scopes have them', () => {
    expect(fillLabelQuery('up{a="${kubernetes.pod-name}"}', { 'kubernetes.pod-name': 'x' })).toBe('up{a="x"}')
  })
})
