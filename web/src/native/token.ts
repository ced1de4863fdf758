// What `octet serve` puts behind the "#" of the address it opens: with it the page may ask the server to work. It is
// kept for this tab and taken out of the address, where it would end up in bookmarks and copied links.
import { signal } from '@preact/signals';

const KEY = 'octet serve token';
const FORM = /^[\w.~-]{8,200}$/;

// A browser can forbid the page to keep anything.
function kept(): string | null {
  try {
    return sessionStorage.getItem(KEY);
  } catch {
    return null;
  }
}

export const token = signal<string | null>(kept());

export function keepToken(given: string | null) {
  token.value = given;
  try {
    if (given === null) sessionStorage.removeItem(KEY);
    else sessionStorage.setItem(KEY, given);
  } catch {
    // It holds until the page is gone.
  }
}

/** The address's part behind "#" without the token, which is kept. */
export function withoutToken(hash: string): string {
  const words = new URLSearchParams(hash.replace(/^#/, ''));
  const given = words.get('token');
  if (given === null) return hash;
  words.delete('token');
  if (FORM.test(given)) keepToken(given);
  return String(words) && `#${words}`;
}
