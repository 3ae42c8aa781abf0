import { expect, test } from 'vitest'

import { publicNames } from '../../../src/rego/snapshot/public-names.js'

test('a file is named below the only directory', () => {
  const names = publicNames(['/srv/policies'], [])
  expect(names.file('/srv/policies/team/a.rego')).toBe('team/a.rego')
  expect(names.root('/srv/policies')).toBe('policies')
})

test('with several directories and bundles each is told by as much of its path as tells it from the others', () => {
  const names = publicNames(['/srv/one/policies', '/srv/two/policies'], ['/srv/b.tar.gz'])
  expect(names.file('/srv/two/policies/a.rego')).toBe('two/policies/a.rego')
  expect(names.file('/srv/b.tar.gz/team/a.rego')).toBe('b.tar.gz/team/a.rego')
  expect(names.root('/srv/b.tar.gz')).toBe('b.tar.gz')
})

test('a file that is below none of them, and a directory itself, are shown by their last part', () => {
  const names = publicNames(['/srv/policies'], [])
  expect(names.file('/etc/keys/a.pem')).toBe('a.pem')
  expect(names.file('/srv/policies')).toBe('policies')
  expect(names.file('/srv/policies/..hidden.rego')).toBe('..hidden.rego')
})

test('a text loses the absolute paths, the inner one of two first', () => {
  const names = publicNames(['/srv/policies', '/srv/policies/team'], [])
  expect(names.text("read /srv/policies/team/a.rego: ENOENT, open '/srv/policies/b'")).toBe(
    "read team/a.rego: ENOENT, open 'policies/b'",
  )
})
