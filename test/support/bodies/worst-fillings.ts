/** How much of a body its values may take: both bounds are those of a route. */
export interface Room {
  readonly bytes: number
  readonly values: number
}

/**
 * JSON texts that are expensive for their size, by the kind of content that they repeat. Each
 * respects the byte limit. Only those named so exceed the value limit.
 */
export const WORST_FILLINGS: Readonly<Record<string, (room: Room) => string>> = {
  null: () => 'null',
  'many keys': ({ bytes, values }) => {
    const most = Math.min(values, Math.floor(bytes / 12))
    return `{${list(most, (i) => `"k${i.toString(36)}":1`)}}`
  },
  'long keys': ({ bytes, values }) => {
    const most = Math.max(1, Math.min(values, Math.floor(bytes / 300)))
    return `{${list(most, (i) => `"${'k'.repeat(280)}${i.toString(36)}":1`)}}`
  },
  'one key again and again': ({ bytes, values }) =>
    `{${list(Math.min(values, Math.floor(bytes / 6)), () => '"a":1')}}`,
  'members without names': ({ bytes, values }) =>
    `{${list(Math.min(values, Math.floor(bytes / 5)), () => '"":1')}}`,
  'keys of objects in programs': ({ bytes, values }) =>
    `{${list(Math.min(values, Math.floor(bytes / 40)), (i) => `"${i % 2 === 0 ? '__proto__' : 'constructor'}":{"x":${i}}`)}}`,
  'numbers as keys': ({ bytes, values }) =>
    `{${list(Math.min(values, Math.floor(bytes / 14)), (i) => `"${4_000_000_000 - i * 7}":1`)}}`,
  'deep arrays': ({ bytes, values }) => nested('[', '1', ']', Math.min(500, values - 1, bytes / 2 - 1)),
  'many deep arrays': ({ bytes, values }) => {
    const deep = nested('[', '1', ']', 450)
    return `[${list(Math.min(Math.floor(values / 460), Math.floor(bytes / (deep.length + 1))), () => deep)}]`
  },
  'deep objects': ({ bytes, values }) =>
    nested('{"a":', '1', '}', Math.min(500, values - 1, Math.floor(bytes / 6) - 1)),
  'deeper than may be': ({ bytes }) => '['.repeat(bytes),
  'small numbers': ({ bytes, values }) =>
    `[${list(Math.min(values - 1, Math.floor(bytes / 2) - 1), () => '1')}]`,
  'more values than may be': ({ bytes }) => `[${list(Math.floor(bytes / 3) - 1, () => '{}')}]`,
  'empty texts': ({ bytes, values }) =>
    `[${list(Math.min(values - 1, Math.floor(bytes / 3) - 1), () => '""')}]`,
  'fractions with exponents': ({ bytes, values }) =>
    `[${list(Math.min(values - 1, Math.floor(bytes / 30)), (i) => `${i}.12345678901234567e-${i % 300}`)}]`,
  'one number of many digits': ({ bytes }) => '9'.repeat(bytes - 8),
  'one fraction of many digits': ({ bytes }) => `0.${'1234567890'.repeat(Math.floor((bytes - 8) / 10))}e-5`,
  'one long text': ({ bytes }) => JSON.stringify('x'.repeat(bytes - 8)),
  'text of escapes': ({ bytes }) => text('\\u00e9', bytes),
  'text of pairs of halves': ({ bytes }) => text('\\ud83d\\ude00', bytes),
  'text of single halves': ({ bytes }) => text('\\ud800', bytes),
  'text of backslashes': ({ bytes }) => text('\\\\', bytes),
  'text of quotes': ({ bytes }) => text('\\"', bytes),
  'text of three bytes a character': ({ bytes }) => text('\u20ac', bytes, 3),
  'text of spaces': ({ bytes }) => text(' ', bytes),
  'text of lines': ({ bytes }) => text('a\\n', bytes),
  'text of names of secrets': ({ bytes }) => text('password: ', bytes),
  'text of headers': ({ bytes }) => text('authorization bearer ', bytes),
  'text of addresses': ({ bytes }) => text('http://u:p@h/?k=', bytes),
  'text of placeholders': ({ bytes }) => text('${', bytes),
  'text of commas': ({ bytes }) => text(',', bytes),
  'text of dots': ({ bytes }) => text('a.', bytes),
  'text of JSON': ({ bytes }) => JSON.stringify(`{${list(Math.floor(bytes / 16), (i) => `"k${i % 9}":1`)}}`),
  'text of deep JSON': ({ bytes }) => text('[', bytes),
  'JSON in JSON in JSON': ({ bytes }) => wrapped(bytes),
  'texts of JSON': ({ bytes, values }) =>
    `[${list(Math.min(values - 1, Math.floor(bytes / 20)), () => '"{\\"a\\":[1]}"')}]`,
  'objects with names': ({ bytes, values }) =>
    `[${list(Math.min(Math.floor((values - 1) / 2), Math.floor(bytes / 20)), (i) => `{"name":"m${i}"}`)}]`,
  'white space': ({ bytes }) => `[${' '.repeat(bytes - 8)}1]`,
}

function list(count: number, member: (index: number) => string): string {
  return Array.from({ length: Math.max(0, count) }, (_, i) => member(i)).join()
}

function nested(open: string, inner: string, close: string, levels: number): string {
  const depth = Math.max(0, Math.floor(levels))
  return open.repeat(depth) + inner + close.repeat(depth)
}

/** A text in quotes made of one piece of JSON again and again; `width` is the bytes of a piece. */
function text(piece: string, bytes: number, width = piece.length): string {
  return `"${piece.repeat(Math.max(0, Math.floor((bytes - 8) / width)))}"`
}

/** A text that holds a text that holds a text…: each level doubles the backslashes. */
function wrapped(bytes: number): string {
  let whole = '{"a":1}'
  for (;;) {
    const next = JSON.stringify(whole)
    if (next.length > bytes) return whole
    whole = next
  }
}
