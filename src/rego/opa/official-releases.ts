/**
 * Base URL of OPA's official programs, with `v1.20.2/opa_linux_amd64_static` and so on below it.
 */
export const OFFICIAL_BASE = 'https://github.com/open-policy-agent/opa/releases/download'
/** The default release of `tidegate opa install`. */
export const DEFAULT_RELEASE = '1.20.2'

/** The name of the official program by Node.js platform, without extension. */
const ASSETS: Readonly<Record<string, string>> = {
  'linux-x64': 'opa_linux_amd64_static',
  'linux-arm64': 'opa_linux_arm64_static',
  'darwin-x64': 'opa_darwin_amd64',
  'darwin-arm64': 'opa_darwin_arm64',
  'win32-x64': 'opa_windows_amd64.exe',
}

/** SHA-256 of official programs by release and platform. For others the user gives the sum. */
const SUMS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  // The static builds, which the npm packages contain.
  '0.70.0': {
    'linux-x64': '00d114b94fdb1606a48cccdfc73c9ccdc62c38721150131ae578d5ff3df5c084',
    'linux-arm64': '48061407a2d7b0b59440fc3a257e7bb251e9ec62f6ce7b1e45c142263ae24413',
    'darwin-x64': '7827172827c6c7763fd36dd72052c318a6beb18f7b907c5e67d847bb557af1a1',
    'darwin-arm64': '267608fe41dba91fb23e2a69a439cb2a39710b3a069a828c744bd99bb3f94508',
    'win32-x64': '19d00eea60477a8f983c20af690fedcc8da52aef81922e570b27538ca88305a4',
  },
  '1.20.2': {
    'linux-x64': '69da5179ee403d10fa11bab6cfb4ffb0d23dba5f9b682fa977db772a1da5670f',
    'linux-arm64': '431bed5a365578241ab06c7cc1c7d0cdff8c11dcbc6f12c3488590deb8b8d66d',
    'darwin-arm64': '54e7008e696d39e8e4f96594e2b71bcbe45fd9a4f838102bcf1240638bf3fbe1',
    'win32-x64': 'e2f2e2b735ab98f316171ca47a6b352288cdeb5a616e31aa16335b8934748453',
  },
}

/** Returns the name of the official program for a platform, if there is one. */
export function officialAsset(platform: string, arch: string): string | undefined {
  return ASSETS[`${platform}-${arch}`]
}

/** Returns the pinned SHA-256 of an official program as 64 hexadecimal digits, if there is one. */
export function pinnedSum(release: string, platform: string, arch: string): string | undefined {
  return SUMS[release]?.[`${platform}-${arch}`]
}
