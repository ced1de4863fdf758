// Whether the page works without a network by now.
import { offline } from '../offline/offline';

const WORDS = { no: '', coming: 'Storing the page for use without a network …', ready: 'Works offline from now on.' };

export function OfflineNote() {
  return <p class="offline" role="status">{WORDS[offline.value]}</p>;
}
