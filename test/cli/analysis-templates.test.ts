import { afterAll, describe, expect, it } from 'vitest'

import { runTidegate } from '../support/run-tidegate.js'
import { makeWorkspace } from '../support/workspace.js'

const workspace = makeWorkspace({
  'app.log': [
    'INFO request 1 served',
    'ERROR order 17 failed',
    'shop.OrderException: none',
    '\tat shop.Orders.place(Orders.java:4)',
    'INFO request 2 served',
    '',
  ].join('\n'),
  'app.jsonl': [
    { content: 'request 1 served', event: 'E1' },
    { content: '  indented, but an event of its own' },
    { content: 'request 2 served' },
  ]
    .map((line) => `${JSON.stringify(line)}\r\n`)
    .join(''),
  'empty.log': '',
  'coloured.log': '\u001b[31mERROR\u001b[0m order 5 failed\n\u001b[32mINFO\u001b[0m order 6 failed\n',
})

afterAll(workspace.remove)

async function templates(args: readonly string[], stdin?: string) {
  const run = await runTidegate(['analysis', 'templates', ...args, '--format', 'json'], {
    cwd: workspace.path,
    ...(stdin !== undefined && { stdin }),
  })
  return {
    ...run,
    lines: run.stdout
      .split('\n')
      .slice(0, -1)
      .map((line): unknown => JSON.parse(line)),
  }
}

describe('tidegate analysis templates', () => {
  it('prints one object for each line in order, the lines of a stack trace alike', async () => {
    const { lines, exitCode } = await templates(['app.log'])
    const request = { cluster: 1, template: 'INFO request <*> served' }
    const failure = { cluster: 2, template: 'shop.OrderException at shop.Orders.place' }
    expect(lines).toEqual([request, failure, failure, failure, request])
    expect(exitCode).toBe(0)
  })

  it('takes the content of JSON lines as it is', async () => {
    const { lines } = await templates(['app.jsonl'])
    expect(lines).toEqual([
      { cluster: 1, template: 'request <*> served' },
      { cluster: 2, template: 'indented, but an event of its own' },
      { cluster: 1, template: 'request <*> served' },
    ])
  })

  it('reads JSON events as the judge does, with characters that are written as escapes', async () => {
    const events = ['Zahlung abgelehnt für Müller', 'Zahlung bestätigt für Müller'].map(
      (msg) =>
        `{"level":"error","msg":${JSON.stringify(msg).replaceAll(/[äü]/g, (sign) => `\\u00${sign.charCodeAt(0).toString(16)}`)}}`,
    )
    const { lines } = await templates(['-'], events.join('\n'))
    expect(lines).toEqual([
      { cluster: 1, template: 'ERROR Zahlung abgelehnt für Müller' },
      { cluster: 2, template: 'ERROR Zahlung bestätigt für Müller' },
    ])
  })

  it('reads standard input, and prints the final template for lines that came before it was known', async () => {
    const { lines } = await templates(['-'], 'session opened for user ann\nsession opened for user bob')
    const template = 'session opened for user <*>'
    expect(lines).toEqual([
      { cluster: 1, template },
      { cluster: 1, template },
    ])
  })

  it('prints a table for people, what is most frequent first', async () => {
    const { stdout } = await runTidegate(['analysis', 'templates', 'app.log'], { cwd: workspace.path })
    expect(stdout.split('\n')).toEqual([
      'EVENTS  ID  TEMPLATE',
      '     2   1  INFO request <*> served',
      '     1   2  shop.OrderException at shop.Orders.place',
      '',
      '2 templates in 5 lines',
      '',
    ])
  })

  it('sees through the colours of a line', async () => {
    const { lines } = await templates(['coloured.log'])
    expect(lines).toEqual([
      { cluster: 1, template: 'ERROR order <*> failed' },
      { cluster: 2, template: 'INFO order <*> failed' },
    ])
  })

  it('has nothing to say of an empty file', async () => {
    expect(await templates(['empty.log'])).toMatchObject({ lines: [], exitCode: 0 })
  })

  it('says which file cannot be read', async () => {
    const run = await runTidegate(['analysis', 'templates', 'missing.log'], { cwd: workspace.path })
    expect(run).toMatchObject({ exitCode: 2, stdout: '' })
    expect(run.stderr).toContain('file missing.log not found')
  })
})
