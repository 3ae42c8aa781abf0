import { describe, expect, it } from 'vitest'

import { TemplateTable } from '../../../../src/canary/logs/grouping/template-table.js'
import { clusterLines } from '../../../support/logs/cluster-lines.js'

function templatesOf(...lines: string[]): string[] {
  return [...new Set(clusterLines(lines).map(({ text }) => text))]
}

describe('values of a line', () => {
  it.each([
    ['took 12 ms', 'took <*>'],
    ['took 1.5 s, then 3 minutes', 'took <*>, then <*>'],
    ['read 8.8 KB of 2 GB', 'read <*> of <*>'],
    ['GET http://shop.example/a?b=c&d=e done', 'GET <*> done'],
    ['open /var/lib/app/data.db: denied', 'open <*>: denied'],
    ['open C:\\Program\\app.ini failed.', 'open <*> failed.'],
    ['from 10.0.0.1:8080 to [fe80::1%eth0]', 'from <*> to [<*>]'],
    ['from de:ad:be:ef:00:01 to ::1', 'from <*> to <*>'],
    ['user f47ac10b-58cc-4372-a567-0e02b2c3d479 at 2026-01-31T10:00:00.123Z', 'user <*> at <*>'],
    ['at Fri Jun 17 07:07:00 2005 UTC', 'at <*>'],
    ['mail to ann@example.org refused', 'mail to <*> refused'],
    ['connect to db.example.internal failed', 'connect to <*> failed'],
    ['connect to cache:6379 failed', 'connect to cache:<*> failed'],
    ['ids [1, 2, 3] and (a, b)', 'ids [<*>] and (a, b)'],
    ['enabled=true verbose=off', 'enabled=<*> verbose=<*>'],
    ['hash deadbeefcafe', 'hash <*>'],
    ['denied from user_u:system_r:httpd_t:s0-s0:c0.c255 on root:object_r:etc_t', 'denied from <*> on <*>'],
    ['reader:open_r:close_text failed', 'reader:open_r:close_text failed'],
    ['[<c0123456>] ext3_readdir+0x1f/0x2c0 [jbd]', '[<<*>>] <*>'],
    ['[<c0123456>] vfs_write+0x1f/0x2c0', '[<<*>>] <*>'],
    ['vfs_write [jbd]', 'vfs_write [jbd]'],
    ['java.io.IOException in init2() of Reader::open', 'java.io.IOException in init2() of Reader::open'],
    ["can't read the client's request", "can't read the client's request"],
    ['prüfe Auftrag 17 für Kundin', 'prüfe Auftrag <*> für Kundin'],
    ['', ''],
    ['   ', ''],
  ])('%s', (line, template) => {
    expect(templatesOf(line)).toEqual([template])
  })
})

describe('records with fields', () => {
  const record = (name: string, type: string): string => `denied for pid=12 name=${name} tclass=${type}`
  const pairs = ['a', 'b', 'c', 'd', 'e'].map(
    (letter, at) => [`file_${letter}x`, `kind${letter}x`.slice(at % 2)] as const,
  )

  it('are one template if five of them differ in several values', () => {
    const lines = pairs.map(([name, type]) => record(name, type))
    expect(templatesOf(...lines)).toEqual(['denied for pid=<*> name=<*> tclass=<*>'])
  })

  it.each([
    ['four of them', pairs.slice(0, 4).map(([name, type]) => record(`${name}y`, `${type}y`))],
    ['fields of causes', pairs.map(([name, type]) => `denied for pid=12 reason=${name} state=${type}`)],
  ])('stay apart for %s', (_, lines) => {
    expect(templatesOf(...lines).length).toBeGreaterThan(1)
  })
})

describe('words that turn out to be values', () => {
  it('are those that many lines differ in', () => {
    const names = ['ann', 'bob', 'cleo', 'dan', 'eve', 'finn', 'gus']
    expect(templatesOf(...names.map((name) => `the basket of ${name} was emptied`))).toEqual([
      'the basket of <*> was emptied',
    ])
  })

  it('are not those that only a few lines differ in', () => {
    expect(templatesOf('machine [a] started now', 'machine [a] stopped now')).toHaveLength(2)
  })

  it('are names behind a word that asks for one, even when there are few', () => {
    expect(templatesOf('session opened for user ann', 'session opened for user bob')).toEqual([
      'session opened for user <*>',
    ])
  })

  it('are not what is done, though it stands behind such a word', () => {
    expect(templatesOf('cannot open the file for reading', 'cannot open the file for writing')).toHaveLength(
      2,
    )
  })

  it('are no states, methods or levels', () => {
    const states = ['NEW', 'READY', 'RUNNING', 'DONE', 'FAILED', 'LOST', 'KILLED']
    expect(templatesOf(...states.map((state) => `the task changed to ${state} at last`))).toHaveLength(7)
  })

  it('may be missing', () => {
    expect(templatesOf('connection from 10.0.0.1 (a1.example) ok', 'connection from 10.0.0.2 () ok')).toEqual(
      ['connection from <*> (<*>) ok'],
    )
    expect(templatesOf('login user= host=a1', 'login user=u1 host=a1')).toEqual(['login user=<*> host=<*>'])
    expect(templatesOf('user  left the room', 'user u1 left the room')).toEqual(['user <*> left the room'])
  })

  it('are one with what is glued to them', () => {
    const names = ['vim', 'tar', 'sed', 'man', 'git', 'bzr']
    expect(
      templatesOf(
        ...names.map((name) => `Unpacking the package ${name}:amd64 over it`),
        'Unpacking the package gcc12 over it',
      ),
    ).toEqual(['Unpacking the package <*> over it'])
  })

  it('change together in dotted names', () => {
    expect(
      templatesOf(
        'Registering a.EventType for class app.Events',
        'Registering b.TaskType for class app.Tasks',
        'Registering c.JobType for class app.Jobs',
      ),
    ).toEqual(['Registering <*> for class <*>'])
  })

  it('are no exceptions', () => {
    const types = ['java.io.IOException', 'java.sql.SQLException', 'a.b.StateException']
    expect(templatesOf(...types.map((type) => `the request ended with ${type} again`))).toHaveLength(3)
  })
})

describe('the ids of templates', () => {
  it('follow the order in which they appear, whatever is united later', () => {
    const lines = [
      'b 1 done',
      'a started early',
      'session for user ann',
      'b 2 done',
      'session for user bob',
      'z',
    ]
    expect(clusterLines(lines).map(({ id }) => id)).toEqual([1, 2, 3, 1, 3, 4])
  })

  it('have keys by which another run finds the template, whether or not it united the same lines', () => {
    const keysOf = (...lines: string[]): readonly string[] => {
      const table = new TemplateTable()
      for (const line of lines) table.add(line)
      return table.finish().templates[0]!.keys
    }
    const few = keysOf('session opened for user ann')
    const many = keysOf('session opened for user ann', 'session opened for user bob')
    expect(many).toEqual(expect.arrayContaining([...few]))
    expect(keysOf('b 1 done')).toEqual(keysOf('b 77 done'))
  })
})

describe('a table with a limit', () => {
  const word = (place: number): string =>
    String(place).replaceAll(/\d/g, (digit) => 'abcdefghij'.charAt(Number(digit)))

  it('makes room by uniting what belongs together, and goes on recognising it', () => {
    const lines = Array.from({ length: 500 }, (_, i) => `the basket of ${word(i)} was emptied`)
    const clustered = clusterLines(['ready', ...lines, 'ready'], 100)
    expect(new Set(clustered.map(({ text }) => text))).toEqual(
      new Set(['ready', 'the basket of <*> was emptied']),
    )
  })

  it('puts what finds no place into a template of its own and says how much that is', () => {
    const table = new TemplateTable(10)
    for (let i = 0; i < 50; i += 1) table.add(`${word(i)} ${word(i * 7)} ${word(i * 13)}`)
    table.add(`${word(0)} ${word(0)} ${word(0)}`)
    const { templates, otherLines } = table.finish()
    expect(templates).toHaveLength(11)
    expect(templates.at(-1)).toMatchObject({ text: '<*>', lines: 40 })
    expect(otherLines).toBe(40)
  })

  it('counts every line once', () => {
    const table = new TemplateTable(50)
    for (let i = 0; i < 1000; i += 1) table.add(`the basket of ${word(i % 300)} was ${word(i % 7)}`)
    const counted = table.finish().templates.reduce((sum, { lines }) => sum + lines, 0)
    expect(counted).toBe(1000)
  })

  it('takes the beginning of very long lines', () => {
    const [first, second] = clusterLines([`dump ${'a b '.repeat(5000)}x`, `dump ${'a b '.repeat(5000)}y`])
    expect(first?.id).toBe(second?.id)
    expect(first?.text.length).toBeLessThan(1100)
  })
})

describe('a line with words in place of a value', () => {
  const many = (line: string, count = 200): string[] =>
    Array.from({ length: count }, (_, n) => line.replaceAll('#', String(n)))

  it('is another template if it has more words', () => {
    const lines = many('Received block # from 10.0.0.#')
    expect(templatesOf(...lines, 'Received block 7 of size 9 from 10.0.0.1')).toHaveLength(2)
    expect(templatesOf(...lines, 'Received block 7 at last from 10.0.0.1, after all')).toHaveLength(2)
  })

  it('is another template if it is as frequent', () => {
    expect(
      templatesOf(
        ...many('the order was changed by 12#'),
        ...many('the order was changed by John van Smith'),
      ),
    ).toHaveLength(2)
  })
})
