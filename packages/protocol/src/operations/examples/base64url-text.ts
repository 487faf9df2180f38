const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

/** ASCII text in base64url without padding. This package must not rely on Buffer or btoa. */
export function base64urlText(text: string): string {
  let [encoded, bits, width] = ['', 0, 0]
  for (const character of text) {
    bits = ((bits << 8) | character.charCodeAt(0)) & 0xff_ff
    for (width += 8; width >= 6; width -= 6) encoded += ALPHABET[(bits >> (width - 6)) & 63] ?? ''
  }
  return width === 0 ? encoded : encoded + (ALPHABET[(bits << (6 - width)) & 63] ?? '')
}
