// The page without a network, and isolated from other origins where the server does not see to it.
import { signal } from '@preact/signals';
import { job } from '../state/job';
import { loaded } from '../state/model';

/** Whether the page would open and work without a network. */
export const offline = signal<'no' | 'coming' | 'ready'>('no');

const RELOADED = 'octet reloaded to be isolated';

// True the first time. Without storage there is no way to know whether it happened before.
function once(name: string): boolean {
  try {
    if (sessionStorage.getItem(name)) return false;
    sessionStorage.setItem(name, 'yes');
    return true;
  } catch {
    return false;
  }
}

function forget(name: string) {
  try {
    sessionStorage.removeItem(name);
  } catch {
    // Then nothing was remembered either.
  }
}

// A page becomes isolated by the headers it came with, so it has to come again: once, and only while nobody has begun.
function isolate() {
  if (crossOriginIsolated) {
    forget(RELOADED);
    return;
  }
  const begun = loaded.value !== null || job.value !== null || navigator.userActivation?.hasBeenActive;
  if (!begun && navigator.serviceWorker.controller && once(RELOADED)) location.reload();
}

export async function startOffline() {
  if (!import.meta.env.PROD || !('serviceWorker' in navigator)) return;
  const { serviceWorker } = navigator;
  serviceWorker.addEventListener('controllerchange', isolate);
  serviceWorker.addEventListener('message', ({ data }: MessageEvent<{ kept?: boolean }>) => {
    if (data.kept !== undefined) offline.value = data.kept ? 'ready' : 'no';
  });
  try {
    await serviceWorker.register('./sw.js');
    const { active } = await serviceWorker.ready;
    isolate();
    offline.value = 'coming';
    active?.postMessage('keep all');
  } catch {
    offline.value = 'no'; // a private window, or a browser without room: the page works as long as there is a network
  }
}
