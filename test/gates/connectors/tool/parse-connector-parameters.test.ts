import { describe, expect, test } from 'vitest'

import { parseConnectorParameters } from '../../../../src/gates/connectors/tool/parse-connector-parameters.js'

const TICKETS = { connectorType: 'JIRA', parameters: { jira_ticket_no: ['OPS-12', 'OPS-13'] } }
const BUILD = {
  connectorType: 'JENKINS',
  parameters: { job: ['build-shop'], buildId: ['118'], artifact: [] },
}
const PLUGIN_FORM = [
  { connectorType: 'JIRA', parameters: [{ jira_ticket_no: ['OPS-12', 'OPS-13'] }] },
  { connectorType: 'JENKINS', parameters: [{ job: 'build-shop', buildId: '118', artifact: '' }] },
]

describe('the parameters of connectors', () => {
  test.each([
    { name: 'the array of the plugins', value: PLUGIN_FORM, requests: [TICKETS, BUILD] },
    { name: 'JSON text of that array', value: JSON.stringify(PLUGIN_FORM), requests: [TICKETS, BUILD] },
    { name: 'one object', value: PLUGIN_FORM[0], requests: [TICKETS] },
    { name: 'JSON text of one object', value: ` ${JSON.stringify(PLUGIN_FORM[0])}`, requests: [TICKETS] },
    {
      name: 'array elements that are JSON text',
      value: PLUGIN_FORM.map((each) => JSON.stringify(each)),
      requests: [TICKETS, BUILD],
    },
    {
      name: 'an object of parameters beside the type',
      value: { jira_ticket_no: ['OPS-12', 'OPS-13'] },
      type: 'JIRA',
      requests: [TICKETS],
    },
    {
      name: 'parameters without an array around them',
      value: { connectorType: 'jira', parameters: { jira_ticket_no: 'OPS-12' } },
      requests: [{ connectorType: 'JIRA', parameters: { jira_ticket_no: ['OPS-12'] } }],
    },
    { name: 'a plain ticket beside the type', value: 'OPS-12, OPS-13', type: ' jira ', requests: [TICKETS] },
    {
      name: 'a plain change',
      value: 'CHG0030001',
      type: 'SERVICENOW',
      requests: [{ connectorType: 'SERVICENOW', parameters: { number: ['CHG0030001'] } }],
    },
    {
      name: 'a plain number',
      value: 118,
      type: 'JENKINS',
      requests: [{ connectorType: 'JENKINS', parameters: { buildId: ['118'] } }],
    },
    {
      name: 'a plain identifier of a type without a name for it',
      value: 'x-1',
      type: 'JFROG',
      requests: [{ connectorType: 'JFROG', parameters: { id: ['x-1'] } }],
    },
    { name: 'plain tickets in an array', value: ['OPS-12', 'OPS-13'], type: 'JIRA', requests: 2 },
    {
      name: 'elements of an array that hold commas',
      value: { connectorType: 'JIRA', parameters: [{ jira_ticket_no: ['OPS-12,OPS-13', ' '] }] },
      requests: [TICKETS],
    },
    {
      name: 'a text that holds commas, left whole',
      value: { connectorType: 'JENKINS', parameters: { job: 'a, b' } },
      requests: [{ connectorType: 'JENKINS', parameters: { job: ['a, b'] } }],
    },
    {
      name: 'two builds of one connector, kept apart',
      value: {
        connectorType: 'JENKINS',
        parameters: [
          { job: 'a', buildId: 1 },
          { job: 'b', buildId: 2 },
        ],
      },
      requests: [
        { connectorType: 'JENKINS', parameters: { job: ['a'], buildId: ['1'] } },
        { connectorType: 'JENKINS', parameters: { job: ['b'], buildId: ['2'] } },
      ],
    },
    {
      name: 'an element with its own type beside another type',
      value: [{ connectorType: 'JIRA', parameters: [{ jira_ticket_no: 'OPS-12,OPS-13' }] }],
      type: 'JENKINS',
      requests: [{ connectorType: 'JIRA', parameters: { jira_ticket_no: ['OPS-12,OPS-13'] } }],
    },
    ...[undefined, null, '', '  ', [], '[]', {}].map((value) => ({
      name: `nothing, as ${JSON.stringify(value)}`,
      value,
      requests: JSON.stringify(value) === '{}' ? [{ connectorType: 'JIRA', parameters: {} }] : [],
      type: 'JIRA',
    })),
  ])(
    'are read from $name',
    ({ value, type, requests }: { value: unknown; type?: unknown; requests: unknown }) => {
      const parsed = parseConnectorParameters(value, type)
      expect(parsed.problems).toEqual([])
      if (typeof requests === 'number') expect(parsed.requests).toHaveLength(requests)
      else expect(parsed.requests).toEqual(requests)
    },
  )

  test('named like members of every object are parameters like others', () => {
    const text = '{"connectorType":"HTTP","parameters":{"__proto__":"a","constructor":"b"}}'
    const { requests } = parseConnectorParameters(text)
    expect(Object.entries(requests[0]?.parameters ?? {})).toEqual([
      ['__proto__', ['a']],
      ['constructor', ['b']],
    ])
  })

  test.each([
    { value: '{"connectorType":', problem: 'toolConnectorParameters starts like JSON but is malformed' },
    { value: 'OPS-12', problem: 'toolConnectorParameters has no connectorType' },
    {
      value: [{ parameters: [{ a: 'b' }] }],
      problem: 'toolConnectorParameters[0] has no connectorType',
    },
    { value: [['OPS-12']], problem: 'toolConnectorParameters[0] is an array within an array' },
    {
      value: { connectorType: 'JIRA', parameters: { jira_ticket_no: { key: 'OPS-12' } } },
      problem: 'toolConnectorParameters.parameters.jira_ticket_no is neither a text nor a list of texts',
    },
    {
      value: { connectorType: 'JIRA', parameters: [{ jira_ticket_no: ['OPS-12', null, {}] }] },
      problem: 'toolConnectorParameters.parameters[0].jira_ticket_no is neither a text nor a list of texts',
    },
  ])('that cannot be used are listed: $problem', ({ value, problem }) => {
    const { problems } = parseConnectorParameters(value)
    expect(problems).toHaveLength(1)
    expect(problems[0]).toContain(problem)
  })

  test('that can be used are there next to those that cannot', () => {
    const { requests, problems } = parseConnectorParameters([{}, PLUGIN_FORM[0], [[]]])
    expect(requests).toEqual([TICKETS])
    expect(problems).toHaveLength(2)
  })

  test('for more than fifty connectors are cut, and that is said', () => {
    const { requests, problems } = parseConnectorParameters(Array.from({ length: 51 }, () => PLUGIN_FORM[0]))
    expect(requests).toHaveLength(50)
    expect(problems).toEqual(['toolConnectorParameters has 51 requests, of which only the first 50 are used'])
  })

  test('are bounded in the problems that are named, and in the values of a text', () => {
    const { problems } = parseConnectorParameters(Array.from({ length: 1000 }, () => []))
    expect(problems).toHaveLength(51)
    expect(problems.at(-1)).toBe('950 more are not named')
    const text = JSON.stringify(Array.from({ length: 20_000 }, () => 1))
    expect(parseConnectorParameters(text).problems).toEqual([
      'toolConnectorParameters holds more than 10000 values',
    ])
  })
})
