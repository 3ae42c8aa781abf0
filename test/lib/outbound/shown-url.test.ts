import { expect, test } from 'vitest'

import { shownUrl } from '../../../src/lib/outbound/shown-url.js'

test.each([
  ['https://receiver.example/done', 'https://receiver.example/done'],
  ['https://receiver.example', 'https://receiver.example'],
  ['https://receiver.example/?token=s3cret', 'https://receiver.example/?token=[redacted]'],
  ['https://receiver.example?token=s3cret', 'https://receiver.example/?token=[redacted]'],
  ['http://h:8080/a%20b?x=1&token=s3cret', 'http://h:8080/a%20b?x=[redacted]&token=[redacted]'],
  ['http://h/?a=s3cret;b=s3cret', 'http://h/?a=[redacted];b=[redacted]'],
  ['http://h/?token=s3cret=with=signs', 'http://h/?token=[redacted]'],
  ['http://h/?s3cret', 'http://h/?[redacted]'],
  ['http://h/?s3cret==&x=', 'http://h/?[redacted]&[redacted]'],
  ['http://h/?=s3cret', 'http://h/?=[redacted]'],
  ['http://h/?a=1?b=s3cret', 'http://h/?a=[redacted]'],
  ['http://h/?$<name>=$1', 'http://h/?$%3Cname%3E=[redacted]'],
  ['http://ana:s3cret@h/done', 'http://[redacted]@h/done'],
  ['http://s3cret@h/done?', 'http://[redacted]@h/done'],
  ['http:\\\\ana:s3cret@h\\done', 'http://[redacted]@h/done'],
  ['https://h/#access_token=s3cret', 'https://h/#[redacted]'],
  ['https://[fd00::1]:8443/x?t=s3cret#s3cret', 'https://[fd00::1]:8443/x?t=[redacted]#[redacted]'],
  ['no url with s3cret', '[redacted]'],
])('%s is shown as %s', (url, shown) => {
  expect(shownUrl(url)).toBe(shown)
  expect(shownUrl(url)).not.toContain('s3cret')
})
