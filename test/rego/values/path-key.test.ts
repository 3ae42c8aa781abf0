import fc from 'fast-check'
import { expect, test } from 'vitest'

import { parseDataPath } from '../../../src/rego/values/data-path.js'
import { pathKey, pathOfKey } from '../../../src/rego/values/path-key.js'

const segment = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('', '/', '%', '%25', '%2F', '%2f', '.', '..', 'a/b', '1', '\0'),
)
const path = fc.array(segment, { maxLength: 5 })

test('a key leads back to its path, so that no two paths share one', () => {
  fc.assert(
    fc.property(path, (segments) => {
      expect(pathOfKey(pathKey(segments))).toEqual(segments)
    }),
  )
})

test('segments that are escaped for a URL are read as they were, however odd', () => {
  const named = fc.array(
    segment.filter((text) => text !== ''),
    { maxLength: 5 },
  )
  fc.assert(
    fc.property(named, (segments) => {
      const sent = segments.map(escaped).join('/')
      expect(parseDataPath(sent)).toEqual(segments)
    }),
  )
})

test('a dot segment as it stands is refused, since it leads elsewhere wherever paths are tidied', () => {
  fc.assert(
    fc.property(path, fc.nat(), fc.constantFrom('.', '..'), (segments, at, dots) => {
      const sent = segments.map(escaped)
      sent.splice(at % (sent.length + 1), 0, dots)
      expect(() => parseDataPath(sent.join('/'))).toThrow('write %2E')
    }),
  )
})

test('any text is a path or an error of the caller', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      try {
        expect(parseDataPath(text)).not.toContain('')
      } catch (raw) {
        expect(raw).toMatchObject({ kind: 'invalid' })
      }
    }),
  )
})

function escaped(text: string): string {
  return /^\.\.?$/.test(text) ? text.replaceAll('.', '%2E') : encodeURIComponent(text)
}
